"""The details of errors: google.rpc messages, as clients of any language read them."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import any_pb2, descriptor_pool

from mockdriver.faults.error_details import KINDS, described, detail, status_bytes

EXAMPLES: dict[str, dict[str, Any]] = {
    "RetryInfo": {"retryDelay": "1.5s"},
    "DebugInfo": {"stack_entries": ["a", "b"], "detail": "c"},
    "QuotaFailure": {"violations": [{"subject": "s", "quotaValue": "5", "futureQuotaValue": 0}]},
    "ErrorInfo": {"reason": "FULL", "domain": "d", "metadata": {"zone": "z"}},
    "PreconditionFailure": {"violations": [{"type": "t", "subject": "s", "description": "d"}]},
    "BadRequest": {
        "fieldViolations": [{"field": "f", "localizedMessage": {"locale": "de", "message": "m"}}]
    },
    "RequestInfo": {"requestId": "r", "serving_data": "s"},
    "ResourceInfo": {"resourceType": "t", "resourceName": "n", "owner": "o", "description": "d"},
    "Help": {"links": [{"description": "d", "url": "u"}]},
    "LocalizedMessage": {"locale": "en", "message": "m"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_detail_can_be_written_as_json(kind: str) -> None:
    example = EXAMPLES[kind.removeprefix("google.rpc.")]
    encoded = status_bytes(8, "full", [detail({"@type": kind, **example})])
    found = described(encoded)
    assert (found["code"], found["message"]) == (8, "full")
    (message,) = found["details"]
    assert message.DESCRIPTOR.full_name == kind
    assert message.ByteSize() > 0


def test_the_bytes_are_those_of_a_google_rpc_status() -> None:
    # written by hand from status.proto and error_details.proto
    assert status_bytes(
        14, "m", [detail({"@type": "google.rpc.RetryInfo", "retryDelay": "3s"})]
    ) == (
        b"\x08\x0e\x12\x01m\x1a\x30"
        b"\x0a\x28type.googleapis.com/google.rpc.RetryInfo\x12\x04\x0a\x02\x08\x03"
    )


def test_an_optional_number_that_is_zero_is_there() -> None:
    given = {"@type": "google.rpc.QuotaFailure", "violations": [{"future_quota_value": 0}]}
    (message,) = described(status_bytes(8, "", [detail(given)]))["details"]
    assert message.violations[0].HasField("future_quota_value")


def test_the_types_are_in_no_pool_but_ours() -> None:
    detail({"@type": "google.rpc.ErrorInfo"})
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("google.rpc.ErrorInfo")
    assert any_pb2.Any.DESCRIPTOR.full_name == "google.protobuf.Any"
