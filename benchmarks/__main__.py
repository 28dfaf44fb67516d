"""Run all measurements; of the two servers, which take turns, print the ratios of the medians."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median

from benchmarks import states
from benchmarks.call_rate import CLIENTS, measure
from benchmarks.fixtures import LARGE, lend_seconds, reset_seconds, start_seconds
from benchmarks.processes import SERVERS, running

ROUNDS = 5


def main() -> None:
    """Print tables of medians, and the ratios that the project has promised."""
    rates: dict[str, list[float]] = {server: [] for server in SERVERS}
    starts: dict[str, list[float]] = {server: [] for server in SERVERS}
    for _ in range(ROUNDS):
        for server in SERVERS:
            with running(server) as (_, seconds):
                starts[server].append(seconds)
    with ExitStack() as stack:
        paths = {server: stack.enter_context(running(server))[0] for server in SERVERS}
        for _ in range(ROUNDS):
            for server in SERVERS:
                rates[server].append(measure(paths[server]))
    bare, ours = SERVERS
    for server in SERVERS:
        print(
            f"{server:12} {median(rates[server]):8.0f} calls/s at {CLIENTS} clients   "
            f"{median(starts[server]) * 1000:6.0f} ms from exec to the first answer"
        )
    rate = median(rates[ours]) / median(rates[bare])
    start = median(starts[ours]) / median(starts[bare])
    print(f"call rate ratio  {rate:.2f} (promised: at least 0.5)")
    print(f"start ratio      {start:.2f} (promised: at most 3.5)")
    _print_fixtures()
    _print_states()


def _print_fixtures() -> None:
    starts = [start_seconds() for _ in range(ROUNDS)]
    rows = {
        "fixture start (promised: well under a second)": starts,
        "fixture of the next test (promised: a few ms)": lend_seconds(),
        "reset": reset_seconds("kep-6011-example"),
        "reset of 1,000 nodes with 3,000 volumes": reset_seconds(LARGE),
    }
    for name, seconds in rows.items():
        print(f"{median(seconds) * 1000:8.1f} ms  {name}")


def _print_states() -> None:
    print(f"the state of {states.NODES:,} nodes with 50,000 disks (promised: milliseconds)")
    for what, seconds in states.measure().items():
        print(f"{median(seconds) * 1000:8.1f} ms  {what}")


if __name__ == "__main__":
    main()
