"""No secret of a request comes out again: not in the journal, the log, or an answer's message."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.co.calling import Answer
from mockdriver.journal import Entry
from mockdriver.journal.log_lines import LogFormat
from mockdriver.journal.log_writer import LogWriter
from mockdriver.journal.redaction import SERVICE_ACCOUNT_TOKENS, STRIPPED
from mockdriver.runtime import VirtualRuntime
from tests.cloud.small_region import SmallRegion
from tests.driver.small_driver import SERVICES, SmallDriver, capability, of, request_class

SECRET = "hunter2"
KEY = "kept-key"
RPCS = [
    method.name
    for service in SERVICES
    for method in csi_pb2.DESCRIPTOR.services_by_name[service].methods
]


def has_place_for_secrets(field: Any) -> bool:
    """Tell whether a field is marked as secret, or can hold tokens of service accounts."""
    marked = bool(field.GetOptions().Extensions[csi_pb2.csi_secret])
    return marked or field.name == "volume_context"


def plant(message: Message) -> int:
    """Put secrets wherever a message has a place for them, at any depth; return how many."""
    planted = 0
    for field in message.DESCRIPTOR.fields:
        value: Any = getattr(message, field.name)
        if field.name == "volume_context":
            value.update({SERVICE_ACCOUNT_TOKENS: json.dumps({"": {"token": SECRET}}), KEY: "x"})
            planted += 1
        elif has_place_for_secrets(field):
            value.update({KEY: SECRET, "password": SECRET * 3})
            planted += 1
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            inner = getattr(csi_pb2, field.message_type.name, None)
            if inner is not None and (count := plant(filled := inner())):
                (value.append if field.is_repeated else value.MergeFrom)(filled)
                planted += count
    return planted


class LoggedDriver:
    """A driver whose calls are logged in both formats."""

    def __init__(self) -> None:
        region = SmallRegion()
        region.add_instance(slots=1)
        region.add_disk("vol")
        region.add_disk("vol-other")
        self._streams = [io.StringIO() for _ in LogFormat]
        self._writers = [
            LogWriter(VirtualRuntime(), stream, log_format)
            for stream, log_format in zip(self._streams, LogFormat, strict=True)
        ]
        self.driver = SmallDriver(region, on_end=self._log)
        self.answers: list[Answer] = []

    def _log(self, entry: Entry) -> None:
        for writer in self._writers:
            writer.call(entry)

    @contextmanager
    def logging(self) -> Iterator[LoggedDriver]:
        """Write the log for the length of the block; it is complete at the end."""
        for writer in self._writers:
            writer.start()
        try:
            yield self
        finally:
            for writer in self._writers:
                writer.close()

    def call(self, rpc: str, request: Message | bytes) -> Answer:
        body = request if isinstance(request, bytes) else request.SerializeToString()
        answer = self.driver.call_with_bytes(rpc, body)
        self.answers.append(answer)
        return answer

    def everything_said(self) -> str:
        """Return all that anybody can read of the calls."""
        said = [stream.getvalue() for stream in self._streams]
        assert all(len(text.splitlines()) == len(self.answers) for text in said)
        for entry in self.driver.journal.entries():
            said += [json.dumps(entry.request()), json.dumps(entry.response()), entry.message]
        return "\n".join([*said, *(answer.message for answer in self.answers)])


def with_secrets(**fields: Any) -> csi_pb2.ControllerPublishVolumeRequest:
    """Return a publish of `vol` on `i-1` that has secrets in both places."""
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_id="vol", node_id="i-1", volume_capability=capability()
    )
    plant(request)
    request.MergeFrom(csi_pb2.ControllerPublishVolumeRequest(**fields))
    return request


def test_every_secret_field_of_a_request_is_planted() -> None:
    planted = {rpc for rpc in RPCS if plant(request_class(rpc)())}
    marked = {
        rpc for rpc in RPCS if any(map(has_place_for_secrets, request_class(rpc).DESCRIPTOR.fields))
    }
    assert planted == marked
    assert {"CreateVolume", "ControllerPublishVolume", "NodePublishVolume"} <= planted


@pytest.mark.parametrize("rpc", RPCS)
def test_no_rpc_tells_a_secret_built_or_not(rpc: str) -> None:
    request = request_class(rpc)()
    planted = plant(request)
    with LoggedDriver().logging() as logged:
        logged.call(rpc, request)
    said = logged.everything_said()
    assert SECRET not in said
    assert (KEY in said) == bool(planted)
    assert (STRIPPED in said) == bool(planted)


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("OK", {}),
        ("NOT_FOUND", {"volume_id": "vol-unknown"}),
        ("NOT_FOUND", {"node_id": "i-unknown"}),
        ("INVALID_ARGUMENT", {"secrets": {"long": SECRET * 1000}}),
        ("INVALID_ARGUMENT", {"volume_context": {SERVICE_ACCOUNT_TOKENS: SECRET * 1000}}),
        ("INVALID_ARGUMENT", {"node_id": "i" * 300}),
    ],
)
def test_no_answer_of_a_publish_tells_a_secret(code: str, fields: dict[str, Any]) -> None:
    with LoggedDriver().logging() as logged:
        answer = logged.call("ControllerPublishVolume", with_secrets(**fields))
    assert answer.code == code
    said = logged.everything_said()
    assert SECRET not in said
    assert said.count(STRIPPED) >= 6


def test_no_refusal_of_the_cloud_tells_a_secret() -> None:
    with LoggedDriver().logging() as logged:
        of(logged.call("ControllerPublishVolume", with_secrets()))
        repeat = logged.call("ControllerPublishVolume", with_secrets(readonly=True))
        assert repeat.code == "ALREADY_EXISTS"
        further = logged.call("ControllerPublishVolume", with_secrets(volume_id="vol-other"))
        assert further.code == "RESOURCE_EXHAUSTED"
    assert SECRET not in logged.everything_said()


def test_bytes_that_are_no_request_do_not_tell_the_secret_that_is_in_them() -> None:
    body = with_secrets().SerializeToString() + b"\xff"
    with LoggedDriver().logging() as logged:
        assert logged.call("ControllerPublishVolume", body).code == "INVALID_ARGUMENT"
    assert SECRET not in logged.everything_said()


def test_a_secret_that_is_no_utf_8_is_not_told_either() -> None:
    body = with_secrets().SerializeToString().replace(SECRET.encode(), b"hunter\xff")
    with LoggedDriver().logging() as logged:
        assert logged.call("ControllerPublishVolume", body).code == "INVALID_ARGUMENT"
    assert "hunter" not in logged.everything_said()


def test_a_secret_under_an_unknown_field_is_not_told() -> None:
    body = with_secrets().SerializeToString() + b"\xfa\x3e\x07" + SECRET.encode()
    with LoggedDriver().logging() as logged:
        of(logged.call("ControllerPublishVolume", body))
    assert SECRET not in logged.everything_said()


def test_a_bug_of_ours_does_not_log_the_request(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with LoggedDriver().logging() as logged:
        monkeypatch.setattr(logged.driver.region.cloud.api, "attach", None)
        assert logged.call("ControllerPublishVolume", with_secrets()).code == "INTERNAL"
    assert "TypeError" in caplog.text
    assert SECRET not in caplog.text
    assert SECRET not in logged.everything_said()
