"""The services as a whole: every RPC of the protos is there, and every error has its code."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator

import grpc
import pytest

from mockdriver.cloud.errors import CloudError, InstanceNotFound
from mockdriver.control import errors
from mockdriver.control.errors import ControlError, InvalidRequest, NoSuchRpc
from mockdriver.control.services import DESCRIPTORS
from mockdriver.control.status import CODES, status_of
from mockdriver.driver import status as driver_status
from mockdriver.faults.errors import FaultsError
from mockdriver.journal.errors import QueryMistake
from tests.control.small_world import SmallWorld, request_of

RPCS = [
    f"{service}.{method.name}"
    for service, descriptor in DESCRIPTORS.items()
    for method in descriptor.methods
]


@pytest.mark.parametrize("rpc", RPCS)
def test_every_rpc_of_the_protos_is_served(rpc: str) -> None:
    service, _, name = rpc.partition(".")
    served = SmallWorld().control._services[service]
    assert inspect.ismethod(getattr(served, name)), rpc
    assert inspect.getdoc(getattr(served, name))


def test_nothing_else_is_called() -> None:
    world = SmallWorld()
    request = request_of("Cloud.GetCloud")
    for service, rpc in (("Cloud", "_instance"), ("None", "GetCloud"), ("Cloud", "GetClock")):
        with pytest.raises(NoSuchRpc):
            world.control.call(service, rpc, request, None)  # type: ignore[arg-type]


def all_errors(base: type[Exception]) -> Iterator[type[Exception]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("mockdriver."):
            yield kind
            yield from all_errors(kind)


@pytest.mark.parametrize(
    "error", [*all_errors(ControlError), *all_errors(CloudError)], ids=lambda kind: kind.__name__
)
def test_every_error_has_a_code(error: type[Exception]) -> None:
    assert error in CODES
    assert CODES[error] not in (grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN)


def test_the_cloud_is_answered_for_as_the_driver_answers_for_it() -> None:
    for error, code in driver_status.CODES.items():
        assert CODES[error] is code


def test_errors_of_faults_and_journal_have_codes() -> None:
    assert QueryMistake in CODES
    assert set(all_errors(FaultsError)) & set(CODES)


def test_a_message_begins_with_the_name_of_the_error() -> None:
    code, name, message = status_of(InstanceNotFound(["i-9"]), "GetInstance")
    assert (code, name) == (grpc.StatusCode.NOT_FOUND, "InstanceNotFound")
    assert message == "InstanceNotFound: no instance has the id 'i-9'"


def test_an_error_that_has_no_code_stays_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        code, name, message = status_of(KeyError("a detail of ours"), "GetInstance")
    assert (code, name) == (grpc.StatusCode.INTERNAL, "InternalError")
    assert "a detail of ours" not in message
    assert "GetInstance" in caplog.records[0].getMessage()


def test_many_problems_are_told_in_few_words() -> None:
    error = InvalidRequest([(f"field_{n}", "is required") for n in range(9)])
    assert str(error).startswith("field_0: is required; field_1: is required; ")
    assert str(error).endswith("; and 4 more")
    assert len(error.problems) == 9


def test_errors_of_the_control_api_say_what_they_are() -> None:
    for _, kind in inspect.getmembers(errors, inspect.isclass):
        assert kind.__module__ != errors.__name__ or inspect.getdoc(kind)
