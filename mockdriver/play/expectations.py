"""Compares what a step came to with what the story says that it must."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mockdriver.play.outcome import Outcome, shortened
from mockdriver.scenario.story_model import Expect

FIELDS = (
    "max_volumes_per_node",
    "published_volume_ids",
    "effective_limit",
    "node_id",
    "accessible_topology",
    "volume_id",
    "capacity_bytes",
    "publish_context",
)
"""The fields that a step's answer can be expected to have."""


def mismatches(expect: Expect, outcome: Outcome, cloud_calls: Mapping[str, int]) -> list[str]:
    """Return in words each way in which the outcome is not as expected; none is a pass.

    Codes are compared whole: one that is not named must not occur. A step without codes expects
    OK of every call.
    """
    if outcome.problem is not None:
        return [outcome.problem]
    found = _code_mismatches(expect, outcome)
    names_codes = expect.code is not None or bool(expect.codes)
    by_code_alone = outcome.cloud_code is not None and names_codes and expect.error is None
    if outcome.error != expect.error and not by_code_alone:
        found.append(
            f"the cloud's error is {outcome.error or 'none'}, want {expect.error or 'none'}"
            f"{_because(outcome)}"
        )
    if outcome.unmade and not names_codes:
        reasons = "; ".join(dict.fromkeys(outcome.unmade))
        found.append(f"{len(outcome.unmade)} volumes could not be made: {reasons}")
    for name in FIELDS:
        if expect.gives(name):
            found += _field_mismatches(name, getattr(expect, name), outcome)
    if expect.count is not None and not expect.count.holds(outcome.fields["count"]):
        found.append(f"{outcome.fields['count']} calls match, want {expect.count}")
    for api, comparison in expect.cloud_calls.items():
        if not comparison.holds(cloud_calls[api]):
            found.append(f"{cloud_calls[api]} calls of {api}, want {comparison}")
    return found


def described(expect: Expect) -> str:
    """Return the expectation in a few words, for a line of output."""
    parts = [f"{code}: {count}" for code, count in sorted(expect.codes.items())]
    if expect.code is not None:
        parts.append(f"code: {expect.code}")
    if expect.error is not None:
        parts.append(f"error: {expect.error}")
    parts += [
        f"{name}: {shortened(getattr(expect, name))}" for name in FIELDS if expect.gives(name)
    ]
    if expect.count is not None:
        parts.append(f"count {expect.count}")
    parts += [f"{api} {comparison}" for api, comparison in expect.cloud_calls.items()]
    return ", ".join(parts)


def _code_mismatches(expect: Expect, outcome: Outcome) -> list[str]:
    got = {code: count for code, count in outcome.codes.items() if count}
    if outcome.cloud_code is not None and (expect.code is not None or expect.codes):
        got = {outcome.cloud_code: 1}
    if expect.code is not None:
        wanted = {expect.code: 1}
    elif expect.codes:
        wanted = {code: count for code, count in expect.codes.items() if count}
    else:
        wanted = {"OK": sum(got.values())} if got else {}
    if got == wanted:
        return []
    return [f"codes are {_counts(got)}, want {_counts(wanted)}{_because(outcome)}"]


def _because(outcome: Outcome) -> str:
    return f" ({'; '.join(outcome.messages)})" if outcome.messages else ""


def _counts(codes: Mapping[str, int]) -> str:
    return ", ".join(f"{code}: {count}" for code, count in sorted(codes.items())) or "none"


def _field_mismatches(name: str, wanted: Any, outcome: Outcome) -> list[str]:
    if name not in outcome.fields:
        return [f"the answer has no {name}, want {shortened(wanted)}"]
    got = outcome.fields[name]
    if name == "published_volume_ids":
        return _id_mismatches(got, wanted)
    if got != wanted:
        return [f"{name} is {shortened(got)}, want {shortened(wanted)}"]
    return []


def _id_mismatches(got: tuple[str, ...] | None, wanted: int | tuple[str, ...]) -> list[str]:
    ids = got or ()
    if isinstance(wanted, int):
        if len(ids) == wanted:
            return []
        return [f"published_volume_ids are {shortened(ids)}, want {wanted}"]
    found = []
    if missing := set(wanted) - set(ids):
        found.append(f"published_volume_ids lack {shortened(missing)}")
    if extra := set(ids) - set(wanted):
        found.append(f"published_volume_ids have besides {shortened(extra)}")
    return found
