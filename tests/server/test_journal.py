"""`serve --journal` and `--journal-size`, and the log form of Kubernetes' e2e suite."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from mockdriver.journal.journal import DEFAULT_CAPACITY, MAX_CAPACITY
from tests.conftest import Serve
from tests.requests import answer, publish
from tests.server.in_process import make
from tests.serving import Serving, environment

SCENARIO = "{scenario: small, cloud: {instances: [{id: i-1}], disks: [{id: vol-1}]}}"
SECRET = "swordfish"


def make_calls(server: Serving) -> None:
    """Make three calls, of which the last one fails."""
    with server.connect() as client:
        answer(client.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
        request = publish("vol-1", "i-1", secrets={"password": SECRET})
        answer(client.controller.ControllerPublishVolume, request)
        call(client.controller.ControllerPublishVolume, publish("vol-1", "i-none"))


def lines_of(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_each_call_is_a_line_of_the_journal_when_the_server_has_stopped(serve: Serve) -> None:
    server = serve("--journal", "calls.jsonl", scenario=SCENARIO)
    make_calls(server)
    assert server.stop() == 0

    calls = lines_of(server.folder / "calls.jsonl")

    assert [(item["sequence"], item["rpc"], item["code_number"]) for item in calls] == [
        (1, "Probe", 0),
        (2, "GetPluginInfo", 0),
        (3, "ControllerPublishVolume", 0),
        (4, "ControllerPublishVolume", 5),
    ]
    assert calls[2]["request"]["secrets"] == {"password": "***stripped***"}
    assert [item["api"] for item in calls[2]["cloud_calls"]] == ["attach"]
    assert calls[3]["cloud_calls"][-1]["error"] == "InstanceNotFound"
    assert SECRET not in (server.folder / "calls.jsonl").read_text(encoding="utf-8")


def test_the_journal_may_be_named_by_the_environment(serve: Serve) -> None:
    server = serve(variables={"MOCKDRIVER_JOURNAL": "calls.jsonl"}, scenario=SCENARIO)
    assert server.stop() == 0
    assert len(lines_of(server.folder / "calls.jsonl")) == 1


def test_a_second_server_continues_the_journal(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for _ in range(2):
        assert serve("--journal", path, scenario=SCENARIO).stop() == 0
    assert [item["sequence"] for item in lines_of(path)] == [1, 1]


def refused(*flags: str, folder: Path) -> str:
    """Run a server that does not start; return what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "mockdriver", "serve", "--endpoint", "csi.sock", *flags],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert not (folder / "csi.sock").exists()
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".", "'.' is a folder, allowed: a file, there already or not"),
        ("none/calls.jsonl", "the folder 'none' does not exist"),
        ("/dev/null", "'/dev/null' is a device, allowed: a file, there already or not"),
    ],
)
def test_a_journal_that_cannot_be_written_is_refused_before_anything_is_served(
    path: str, text: str, tmp_path: Path
) -> None:
    said = refused("--journal", path, folder=tmp_path)
    assert said == f"Error: Invalid value for --journal: {text}"


@pytest.mark.parametrize("size", ["0", "-1", "1000001", "many"])
def test_a_journal_of_an_impossible_size_is_refused(size: str, tmp_path: Path) -> None:
    said = refused("--journal-size", size, folder=tmp_path)
    assert "Invalid value for '--journal-size': " in said
    assert "is not a valid integer" in said or f"{size} is not in the range 1<=x<=1000000" in said


def test_the_journal_remembers_as_many_calls_as_it_is_told() -> None:
    assert make(journal_size=7).journal.capacity == 7
    assert make().journal.capacity == DEFAULT_CAPACITY == 10_000
    assert MAX_CAPACITY == 1_000_000


# ------------------------------------------------------------------------ Kubernetes' e2e suite


def test_the_log_of_kubernetes_e2e_suite_has_a_line_for_each_call_and_remarks_as_text(
    serve: Serve,
) -> None:
    server = serve("--log-format", "kubernetes-e2e", scenario=SCENARIO)
    make_calls(server)
    assert server.stop() == 0

    lines = server.log().splitlines()

    calls = [json.loads(line.removeprefix("gRPCCall: ")) for line in lines[:4]]
    assert [call["Method"] for call in calls] == [
        "/csi.v1.Identity/Probe",
        "/csi.v1.Identity/GetPluginInfo",
        *["/csi.v1.Controller/ControllerPublishVolume"] * 2,
    ]
    assert calls[2]["Request"]["volume_capability"] == {
        "AccessType": {"Mount": {}},
        "access_mode": {"mode": 1},
    }
    assert (calls[2]["Error"], calls[2]["FullError"]) == ("", None)
    assert (calls[3]["Response"], calls[3]["FullError"]["code"]) == (None, 5)
    assert all(" INFO " in line for line in lines[4:])
