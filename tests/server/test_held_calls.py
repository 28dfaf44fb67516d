"""Calls that the cloud holds: each keeps a thread, and none keeps others from being answered."""

from __future__ import annotations

from collections import Counter

from csi_spec import csi_pb2
from tests.conftest import Serve
from tests.requests import answer, begin_publish, is_ready, publish, published_ids
from tests.waiting import wait_until

HELD = 300

SCENARIO = f"""
scenario: held
cloud:
  instances: [{{id: i-1}}]
  disks: [{", ".join(f"{{id: vol-{n}}}" for n in range(HELD))}]
  transitions: {{attach: held}}
"""


def test_300_held_publishes_leave_the_server_able_to_answer_and_to_stop(serve: Serve) -> None:
    server = serve(scenario=SCENARIO)
    with server.connect() as client, server.connect() as other:
        held = [begin_publish(client, f"vol-{n}", "i-1") for n in range(HELD)]
        wait_until(lambda: len(published_ids(other, "i-1")) == HELD, "all are attaching")

        assert is_ready(other)
        assert not any(future.done() for future in held)

        for future in held:
            future.cancel()
        wait_until(
            lambda: server.log().count("ControllerPublishVolume CANCELLED") == HELD,
            "the server has let go of all calls",
        )
        assert is_ready(other)
    assert server.stop() == 0
    codes = Counter(
        line.split()[2] for line in server.log().splitlines() if "ControllerPublish" in line
    )
    assert codes == {"CANCELLED": HELD}, "none was refused for being one too many"


def test_a_call_whose_deadline_passes_lets_go_of_its_volume(serve: Serve) -> None:
    server = serve(scenario=SCENARIO)
    with server.connect() as client:
        method = client.controller.ControllerPublishVolume
        overdue = method.future(publish("vol-0", "i-1"), timeout=0.2)
        assert overdue.code().name == "DEADLINE_EXCEEDED"
        wait_until(lambda: "ControllerPublishVolume CANCELLED" in server.log(), "it has ended")

        # ABORTED if the first call still held the volume
        detach = csi_pb2.ControllerUnpublishVolumeRequest(volume_id="vol-0", node_id="i-1")
        answer(client.controller.ControllerUnpublishVolume, detach)

        assert published_ids(client, "i-1") == []
