"""The page about faults says what the program does."""

from __future__ import annotations

import pytest

from mockdriver.control.v1 import faults_pb2
from mockdriver.faults.cloud_calls import CLOUD_ERRORS, CLOUD_FIELDS
from mockdriver.faults.compiling import ANSWERS, MAX_HEADER_BYTES, WAITS
from mockdriver.faults.error_details import KINDS
from mockdriver.faults.fault import MAX_FAULTS
from mockdriver.faults.waiting import MAX_WAITING
from mockdriver.scenario.fault_model import FaultModel
from mockdriver.server.socket_server import WORKER_THREADS
from tests.docs.blocks import text_of
from tests.docs.test_completeness import codes_in, rows

PAGE = "docs/faults.md"
KEYS = [info.alias or name for name, info in FaultModel.model_fields.items()]


def keys_under(heading: str) -> list[str]:
    found = [codes_in(cells[0]) for cells in rows(PAGE, heading)]
    return [names[0] for names in found if names]


@pytest.mark.parametrize("api", CLOUD_FIELDS)
def test_fields_and_errors_of_a_cloud_api_are_those_of_the_program(api: str) -> None:
    [cells] = [cells for cells in rows(PAGE, "Faults of the cloud") if cells[0] == f"`{api}`"]

    assert codes_in(cells[1]) == list(CLOUD_FIELDS[api])
    assert codes_in(cells[2]) == list(CLOUD_ERRORS[api])


def test_every_key_is_explained() -> None:
    explained = {
        *keys_under("Which calls"),
        *keys_under("Which of those that match"),
        *keys_under("What it does"),
    }

    assert set(KEYS) - explained == {"name", "seed", "when", "message", "details"}
    for key in KEYS:
        assert f"`{key}`" in text_of(PAGE)
    assert set(keys_under("What it does")) == {*ANSWERS, *WAITS}


def test_every_rpc_of_the_service_is_named() -> None:
    service = faults_pb2.DESCRIPTOR.services_by_name["Faults"]
    named = [name for cells in rows(PAGE, "The list")[1:] for name in codes_in(cells[0])]

    assert named == list(service.methods_by_name)


def test_every_kind_of_detail_is_named() -> None:
    for kind in KINDS:
        assert f"`{kind.rpartition('.')[2]}`" in text_of(PAGE)


def test_numbers_in_the_text_are_those_of_the_program() -> None:
    text = text_of(PAGE)

    assert f"At most {MAX_WAITING} calls can wait" in text
    assert f"a thread of the {WORKER_THREADS:,} that there are" in text
    assert f"are at most {MAX_HEADER_BYTES} bytes of headers" in text
    assert f"There can be {MAX_FAULTS:,} faults" in text
