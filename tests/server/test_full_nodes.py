"""As many publishes succeed as there are free slots, however many arrive at once."""

from __future__ import annotations

from collections import Counter

import pytest

from mockdriver.co.csi_client import CsiClient
from tests.conftest import Serve
from tests.requests import begin_publish, published_ids

ROUNDS = 10
FREE = 27
CALLS = 100

DISKS = ", ".join(f"{{id: vol-{r}-{n}}}" for r in range(ROUNDS) for n in range(CALLS))
SCENARIO = f"""
scenario: rounds
cloud:
  instance_types: {{t: {{slots: 30, network_interfaces_share_slots: true}}}}
  instances:
    count: {ROUNDS}
    id: "i-{{n}}"
    type: t
    network_interfaces: 2
    boot_disk: "boot-{{n}}"
  disks: [{DISKS}]
  api: {{attach: {{delay: 10ms}}}}
"""


@pytest.mark.slow
def test_100_publishes_at_once_fill_27_slots_exactly(serve: Serve) -> None:
    server = serve(scenario=SCENARIO)
    # Several connections, as several CO processes have them: one would put the calls in line.
    clients = [CsiClient(server.path) for _ in range(4)]
    rounds = []
    for number in range(ROUNDS):
        node = f"i-{number + 1}"
        calls = [begin_publish(clients[n % 4], f"vol-{number}-{n}", node) for n in range(CALLS)]
        codes = Counter(future.code().name for future in calls)
        rounds.append((codes["OK"], codes["RESOURCE_EXHAUSTED"]))
        assert len(published_ids(clients[0], node)) == FREE + 1
    for client in clients:
        client.close()

    assert rounds == [(FREE, CALLS - FREE)] * ROUNDS
