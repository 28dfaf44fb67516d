"""The one table from typed errors to gRPC codes."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import grpc
import pytest

from mockdriver.cloud import errors as cloud_errors
from mockdriver.cloud.errors import CloudError, Throttled
from mockdriver.driver import errors as driver_errors
from mockdriver.driver.errors import DriverError, InvalidField, PatienceExhausted
from mockdriver.driver.status import CODES, MAX_MESSAGE_CHARACTERS, status_of
from mockdriver.faults.errors import InjectedFailure, TooManyWaiting


def subclasses(base: type[Exception]) -> Iterator[type[Exception]]:
    """Yield the concrete errors under a base, in this program's modules."""
    for found in base.__subclasses__():
        if found.__module__ in (cloud_errors.__name__, driver_errors.__name__):
            yield found
            yield from subclasses(found)


ALL_ERRORS = [*subclasses(CloudError), *subclasses(DriverError)]


@pytest.mark.parametrize("error", ALL_ERRORS, ids=lambda error: error.__name__)
def test_every_error_has_a_row(error: type[Exception]) -> None:
    assert error in CODES


def test_the_table_has_rows_for_these_errors_only() -> None:
    assert set(CODES) == set(ALL_ERRORS)


def test_no_row_says_ok_or_unknown() -> None:
    assert not {grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN} & set(CODES.values())


@pytest.mark.parametrize("error", [Throttled("attach"), PatienceExhausted("attach", 10)])
def test_throttled_is_unavailable_and_never_resource_exhausted(error: Exception) -> None:
    assert status_of(error, "ControllerPublishVolume")[0] is grpc.StatusCode.UNAVAILABLE


def test_a_known_error_is_answered_with_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    code, message = status_of(InvalidField("volume_id", "is required"), "DeleteVolume")
    assert (code, message) == (grpc.StatusCode.INVALID_ARGUMENT, "volume_id: is required")
    assert caplog.records == []


def test_an_unknown_error_is_internal_keeps_its_text_from_the_peer_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = KeyError("a detail of ours")
    with caplog.at_level(logging.ERROR):
        code, message = status_of(error, "DeleteVolume")
    assert code is grpc.StatusCode.INTERNAL
    assert "a detail of ours" not in message
    assert "DeleteVolume" in message
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is error
    assert "DeleteVolume" in record.getMessage()


def test_an_error_that_is_like_a_known_one_is_not_taken_for_it() -> None:
    class OneOfItsKind(InvalidField):
        """An error that nobody gave a row."""

    assert status_of(OneOfItsKind("a", "b"), "Probe")[0] is grpc.StatusCode.INTERNAL


def test_a_message_stays_far_below_what_a_header_can_hold() -> None:
    _, message = status_of(driver_errors.NoAccessibleZone("zone, " * 10_000), "CreateVolume")
    assert len(message) < MAX_MESSAGE_CHARACTERS + 40
    assert message.endswith("… (60000 characters)")


def test_what_a_fault_injects_has_a_code_and_a_message_of_its_own() -> None:
    failure = InjectedFailure("DATA_LOSS", "m" * 2_000)
    assert status_of(failure, "Probe") == (grpc.StatusCode.DATA_LOSS, "m" * 2_000)
    assert status_of(TooManyWaiting(800), "Probe")[0] is grpc.StatusCode.UNAVAILABLE
