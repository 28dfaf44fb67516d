"""grpcurl steers a server with no proto file: the server describes its control API itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Serve
from tests.go.asking import Asker, publish
from tests.serving import serving

pytestmark = pytest.mark.go

PACKAGE = "mockdriver.control.v1"
SERVICES = {"Clock", "Cloud", "Faults", "Journal", "State"}


class Operator:
    """grpcurl, asked for the control API."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def ask(self, rpc: str, **request: object) -> dict[str, Any]:
        """Make a call that succeeds."""
        done = self.asker.run(f"{PACKAGE}.{rpc}", flags=("-d", json.dumps(request)))
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def refused(self, rpc: str, **request: object) -> str:
        """Make a call that is refused; return what grpcurl shows, metadata included."""
        done = self.asker.run(f"{PACKAGE}.{rpc}", flags=("-v", "-d", json.dumps(request)))
        assert done.returncode != 0
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def asker(grpcurl: Path) -> Iterator[Asker]:
    with serving() as server:
        yield Asker(grpcurl, server.path)


@pytest.fixture
def operator(asker: Asker) -> Operator:
    operator = Operator(asker)
    operator.ask("State/Reset")
    return operator


def test_the_services_are_listed_with_those_of_csi(asker: Asker) -> None:
    listed = set(asker.shown("list").split())
    assert {f"{PACKAGE}.{name}" for name in SERVICES} <= listed
    assert "csi.v1.Controller" in listed


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_service_is_described(asker: Asker, service: str) -> None:
    described = asker.shown("describe", f"{PACKAGE}.{service}")
    assert f"{PACKAGE}.{service} is a service" in described
    for rpc in asker.shown("list", f"{PACKAGE}.{service}").split():
        assert "is a method" in asker.shown("describe", rpc)


def test_messages_of_other_files_are_described_too(asker: Asker) -> None:
    assert "google.protobuf.Timestamp start" in asker.shown("describe", f"{PACKAGE}.Call")
    assert "map<string, string> tags" in asker.shown("describe", f"{PACKAGE}.Disk")


def test_another_number_of_a_capability_hides_nothing(grpcurl: Path, serve: Serve) -> None:
    asker = Asker(grpcurl, serve("--capability-number", "GET_NODE_INFO=1001").path)
    assert Operator(asker).ask("State/GetServer")["scenario"] == "kep-6011-example"
    assert "is a method" in asker.shown("describe", f"{PACKAGE}.Journal.WatchCalls")


def test_an_operator_fills_a_node_and_the_co_is_told(operator: Operator) -> None:
    asker = operator.asker
    before = asker.ask("Controller/ControllerGetNodeInfo", {"node_id": "i-worker-1"})
    for n in range(13):
        operator.ask("Cloud/Attach", instance="i-worker-1", disk=f"more-{n}", wait=True)
    info = operator.ask("Cloud/GetNodeInfo", node_id="i-worker-1")
    after = asker.ask("Controller/ControllerGetNodeInfo", {"node_id": "i-worker-1"})
    assert len(after["published_volume_ids"]) == len(before["published_volume_ids"]) + 13
    assert after["published_volume_ids"] == info["published_volume_ids"]
    volume = asker.create("one-more")
    failure = asker.fail("Controller/ControllerPublishVolume", publish(volume, "i-worker-1"))
    assert failure.code == 8
    operator.ask("Cloud/Detach", instance="i-worker-1", disk="more-1", wait=True)
    asker.ask("Controller/ControllerPublishVolume", publish(volume, "i-worker-1"))


def test_a_refusal_has_its_name_in_message_and_metadata(operator: Operator) -> None:
    shown = operator.refused("Cloud/Detach", instance="i-worker-1", disk="vol-boot")
    assert "mockdriver-error: BootDiskInUse" in shown
    assert "Message: BootDiskInUse: disk 'vol-boot' is the boot disk of its instance" in shown
    assert "Code: FailedPrecondition" in shown
    operator.ask("Cloud/Detach", instance="i-worker-1", disk="vol-boot", force=True)
    shown = operator.refused("Cloud/AddNetworkInterface", instance="i-worker-1", count=-1)
    assert "InvalidRequest: count: -1 is not allowed, allowed: a whole number" in shown


def test_a_state_is_exported_and_loaded_again(operator: Operator) -> None:
    operator.ask("Cloud/AddInstance", id="i-new", type="shared-25", published=["p-1"])
    exported = operator.ask("State/ExportScenario", name="mine")
    operator.ask("State/LoadScenario", name="three-zones")
    operator.ask("State/LoadScenario", yaml=exported["yaml"])
    assert operator.ask("State/GetServer")["scenario"] == "mine"
    assert operator.ask("Cloud/GetInstance", id="i-new")["slot_users"] == "2"
    operator.ask("State/LoadScenario", name="kep-6011-example")


def test_time_is_stopped_moved_and_started(operator: Operator) -> None:
    operator.ask("Clock/StopClock")
    operator.ask("Cloud/SetTransitions", detach="after 1m")
    leaving = operator.ask("Cloud/Detach", instance="i-worker-1", disk="vol-manual")
    assert leaving["attachment"]["waits_for"] == "60s"
    operator.ask("Clock/AdvanceClock", by="1m")
    shown = operator.refused("Cloud/GetAttachment", instance="i-worker-1", disk="vol-manual")
    assert "NotAttached" in shown
    assert "stopped" not in operator.ask("Clock/StartClock")
