"""What the program has stands in the documents, and what stands there the program has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click
import pytest

from csi_spec import csi_pb2
from mockdriver.cli import COMMANDS, main
from mockdriver.cloud import API_NAMES
from mockdriver.co.calling import DEADLINE_SECONDS
from mockdriver.co.registration import MAX_RETRIES
from mockdriver.control import errors as control_errors
from mockdriver.control import network_interfaces, paging
from mockdriver.control import status as control_status
from mockdriver.control.services import DESCRIPTORS
from mockdriver.control.world import MAX_SNAPSHOTS, PARTS
from mockdriver.driver.capabilities import BUILT
from mockdriver.driver.cloud_client import PATIENCE_SECONDS
from mockdriver.driver.driver import Role
from mockdriver.driver.status import CODES
from mockdriver.metrics.names import METRICS
from mockdriver.metrics.world_metrics import MAX_NODES, USERS
from mockdriver.runtime import WallRuntime
from mockdriver.scenario import capability_names, checks, cloud_model, composing, source
from mockdriver.scenario.code_names import ACCESS_MODES
from mockdriver.scenario.code_names import CODES as CODE_NAMES
from mockdriver.scenario.schema import json_schema
from mockdriver.scenario.story_checks import ANSWERS
from mockdriver.scenario.story_model import VERBS
from mockdriver.server.health import MAX_WATCHERS
from mockdriver.server.http_servers import HttpServers
from mockdriver.server.listening import plan_listening
from mockdriver.server.ready_file import contents
from mockdriver.server.socket_server import CONTROL_THREADS, WORKER_THREADS
from tests.docs.blocks import ROOT, all_blocks, documents, prose_of, text_of

README, SCENARIOS, ARCHITECTURE = "README.md", "docs/scenarios.md", "docs/architecture.md"
CONTROL_API = "docs/control-api.md"
READINESS, METRICS_PAGE = "docs/readiness.md", "docs/metrics.md"

SCHEMA = json_schema()


def _model_of(part: dict[str, Any]) -> str:
    """Return the model that a verb's arguments follow, whether or not it may stand alone."""
    reference: str = part.get("$ref") or part["anyOf"][0]["$ref"]
    return reference.rpartition("/")[2]


MODELS: dict[str, str | tuple[str, ...]] = {
    "Top level": "",
    "driver": "DriverModel",
    "capabilities": "CapabilitiesModel",
    "cloud": "CloudModel",
    "instance_types": "InstanceTypeModel",
    "instances": "InstanceModel",
    "disks": "DiskModel",
    "attachments": "AttachmentModel",
    "transitions": "TransitionsModel",
    "api": ("ApiQuotas", "QuotaModel"),
    "faults": "FaultModel",
    "expect": "Expect",
    "Filters of calls": "CallFilter",
    **{
        verb: _model_of(SCHEMA["$defs"]["StepModel"]["properties"][verb])
        for verb in VERBS
        if verb not in ("advance", "set_quota")  # a duration, and the keys of `api`
    },
}
"""The headings of docs/scenarios.md whose tables list the keys of these parts of the schema."""

ELSEWHERE = {
    "add_fault": "FaultModel",
    "wait_for_calls": "CallFilter",
    "calls": "CallFilter",
}
"""Headings that point to another one for the keys that they share with it."""

LEFT_UNDER_WAY = "Steps that are left under way"
COMMON = {"wait", "as"}
"""The keys of every verb of the CO; they stand under the heading above."""

OF_THE_CO = [
    verb
    for verb in VERBS
    if "as" in SCHEMA["$defs"].get(MODELS.get(verb), {}).get("properties", ())
]

Row = list[str]


def tables(document: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a document's tables, each with the heading above it."""
    heading = ""
    for _, line in prose_of(document):
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif line.startswith("|") and not re.fullmatch(r"[|\-]+", line):
            yield heading, [cell.strip() for cell in line.strip("|").split("|")]


def rows(document: str, heading: str) -> list[Row]:
    """Return the rows of the tables under one heading."""
    return [cells for above, cells in tables(document) if above == heading]


def codes_in(text: str) -> list[str]:
    """Return what stands in backquotes."""
    return re.findall(r"`([^`]+)`", text)


def properties(names: str | tuple[str, ...]) -> Mapping[str, Any]:
    """Return the keys of parts of the schema; "" is the root."""
    parts = [names] if isinstance(names, str) else names
    found: dict[str, Any] = {}
    for name in parts:
        definition = SCHEMA["$defs"][name] if name else SCHEMA
        found |= definition["properties"]
    return found


def required(names: str | tuple[str, ...]) -> set[str]:
    """Return the keys that must be there."""
    name = names if isinstance(names, str) else names[0]
    # A new instance's id is checked by the model, which a schema cannot say.
    more = {"id"} if name == "AddInstance" else set()
    return {*(SCHEMA["$defs"][name] if name else SCHEMA).get("required", ()), *more}


def documented_keys(heading: str) -> dict[str, Row]:
    """Return the rows that describe a key, by key."""
    return {
        cells[0].strip("`"): cells
        for cells in rows(SCENARIOS, heading)
        if re.fullmatch(r"`\w+`", cells[0]) and len(cells) == 4
    }


@pytest.mark.parametrize("heading", MODELS)
def test_the_keys_of_the_schema_are_documented_and_no_others(heading: str) -> None:
    keys = set(properties(MODELS[heading]))
    if heading == "expect":
        keys -= set(CODE_NAMES)
    if heading in ELSEWHERE:
        keys -= set(properties(ELSEWHERE[heading]))
    if heading in OF_THE_CO:
        keys -= COMMON

    assert set(documented_keys(heading)) == keys


def test_what_every_verb_of_the_co_can_have_stands_in_one_place() -> None:
    assert set(documented_keys(LEFT_UNDER_WAY)) == COMMON
    listed = [codes_in(cells[0])[0] for cells in rows(SCENARIOS, "story") if "the CO" in cells[1]]

    assert [*OF_THE_CO, "collect"] == listed


def test_no_part_of_the_schema_is_left_out() -> None:
    documented = {
        name for names in MODELS.values() for name in ([names] if isinstance(names, str) else names)
    }

    assert set(SCHEMA["$defs"]) - documented == {"StepModel", "SetQuota"}


@pytest.mark.parametrize("heading", [heading for heading in MODELS if heading != "expect"])
def test_defaults_are_those_of_the_schema(heading: str) -> None:
    needed = required(MODELS[heading])
    for key, cells in documented_keys(heading).items():
        shown, prop = cells[2], properties(MODELS[heading])[key]
        assert (shown == "*required*") == (key in needed), f"{heading}: {key}"
        default = prop.get("default")
        if isinstance(default, bool | int | float | list):
            assert shown == f"`{json.dumps(default).removesuffix('.0')}`", f"{heading}: {key}"
        elif isinstance(default, str):
            assert shown == (f"`{default}`" if default else '`""`'), f"{heading}: {key}"


@pytest.mark.parametrize("heading", [heading for heading in MODELS if heading != "expect"])
def test_ranges_are_those_of_the_schema(heading: str) -> None:
    for key, cells in documented_keys(heading).items():
        for minimum, maximum in re.findall(r"(\d+) to (\d+)", cells[1]):
            prop = properties(MODELS[heading])[key]
            number = next((item for item in prop.get("anyOf", ()) if "minimum" in item), prop)
            assert (int(minimum), int(maximum)) == (number["minimum"], number["maximum"]), key


def test_every_verb_is_listed_in_the_order_of_the_program() -> None:
    listed = [codes_in(cells[0])[0] for cells in rows(SCENARIOS, "story")[1:]]

    assert listed == list(VERBS)


def test_who_answers_what_is_as_the_program_checks_it() -> None:
    for key, cells in documented_keys("expect").items():
        if key in ("code", "error", "cloud_calls"):  # of many verbs
            continue
        assert codes_in(cells[2]) == [verb for verb in ANSWERS if key in ANSWERS[verb]], key


@pytest.mark.parametrize("name", [*CODE_NAMES, *ACCESS_MODES, *API_NAMES])
def test_codes_access_modes_and_apis_are_named(name: str) -> None:
    assert f"`{name}`" in text_of(SCENARIOS)


def test_errors_of_the_cloud_stand_beside_the_codes_that_they_become() -> None:
    documented = {
        error: cells[1] for cells in rows(SCENARIOS, "expect") for error in codes_in(cells[0])
    }
    errors = properties("Expect")["error"]["enum"]

    codes = {kind.__name__: code.name for kind, code in CODES.items() if kind.__name__ in errors}
    assert {error: documented[error] for error in errors} == codes


def test_the_limits_of_a_file_are_those_of_the_program() -> None:
    limits = [int(cells[1]) for cells in rows(SCENARIOS, "How a file is read")[1:]]

    assert limits == [
        source.MAX_BYTES,
        source.MAX_LINES,
        source.MAX_WORDS,
        composing.MAX_NODES,
        composing.MAX_DEPTH,
        cloud_model.MAX_INSTANCES,
        checks.MAX_RESOURCES,
    ]


def test_numbers_in_the_text_are_those_of_the_program() -> None:
    text = text_of(SCENARIOS)

    assert f"for {PATIENCE_SECONDS:g} s;" in text
    assert f"retried up to {MAX_RETRIES} times" in text
    assert f"call is {DEADLINE_SECONDS:g} s of real time" in text
    assert f"up to {WORKER_THREADS:,}" in text_of(ARCHITECTURE)


@pytest.mark.parametrize("service", [*capability_names.BUILT])
def test_the_capabilities_of_a_service_are_named(service: str) -> None:
    [cells] = [cells for key, cells in documented_keys("capabilities").items() if key == service]

    assert codes_in(cells[3]) == list(capability_names.BUILT[service])


def test_the_readme_names_the_capabilities_that_are_built() -> None:
    named = [name for cells in rows(README, "Capabilities") for name in codes_in(cells[0])]

    assert named == [capability.name for capability in BUILT]


def test_the_readme_has_a_line_for_each_command() -> None:
    listed = [codes_in(cells[0]) for cells in rows(README, "Commands")]

    commands = [codes[0].split()[1] for codes in listed if codes and "mockdriver" in codes[0]]
    assert commands == list(COMMANDS)


OPTIONS = {"serve": (README, "Commands"), "wait": (READINESS, "`mockdriver wait`")}
"""The commands whose options have a table, and where it is."""


@pytest.mark.parametrize("name", OPTIONS)
def test_a_table_has_a_line_for_each_option_of_a_command(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    options = [item for item in command.params if isinstance(item, click.Option)]
    listed = {
        codes_in(cells[0])[0]: cells for cells in rows(*OPTIONS[name]) if cells[0].startswith("`--")
    }

    assert list(listed) == [option.opts[0] for option in options]
    for option in options:
        _, variables, default, _ = listed[option.opts[0]]
        names = [option.envvar] if isinstance(option.envvar, str) else option.envvar
        assert codes_in(variables) == list(names or ())
        if isinstance(option.default, str | int | float):
            assert default == f"`{option.default}`", option.opts[0]


def test_the_keys_of_a_ready_file_are_documented_and_no_others() -> None:
    plan = plan_listening(
        endpoint="/s", role=Role.ALL, node_id="i", node_socket_dir=None, node_ids=[]
    )

    urls = HttpServers(WallRuntime()).urls()
    documented = [codes_in(cells[0])[0] for cells in rows(READINESS, "The ready file")[1:]]
    assert documented == list(contents(plan, driver_name="d", scenario="s", urls=urls))


def test_the_metrics_are_documented_and_no_others() -> None:
    listed = [
        (codes_in(name)[0], kind, tuple(codes_in(labels)))
        for name, kind, labels, _ in rows(METRICS_PAGE, "What there is")[1:]
    ]

    assert listed == [(metric.name, metric.kind, metric.labels) for metric in METRICS]
    text = text_of(METRICS_PAGE)
    assert f"`user` is {', '.join(f'`{user}`' for user in USERS[:-1])} or `{USERS[-1]}`" in text
    assert f"Only the first {MAX_NODES} instances" in text


def test_the_number_of_watchers_is_that_of_the_program() -> None:
    assert f"At most {MAX_WATCHERS} calls watch at once." in text_of(READINESS)


def test_every_room_has_a_line_in_the_order_of_the_layers() -> None:
    rooms = [codes_in(cells[0])[0] for cells in rows(ARCHITECTURE, "Rooms")[1:]]

    there = {f"mockdriver/{path.parent.name}" for path in ROOT.glob("mockdriver/*/__init__.py")}
    specs = ["csi_spec", "kubelet_spec"]
    assert set(rooms) == {*there, *specs}
    assert rooms[-2:] == specs
    layers = re.search(r"^layers = \[(.*?)\]", text_of_pyproject(), re.MULTILINE | re.DOTALL)
    assert layers is not None
    order = [name for name in re.findall(r"\w+", layers[1]) if name != "__main__"]
    rooms = rooms[:-2]
    assert sorted(rooms, key=lambda room: order.index(room.rpartition("/")[2])) == rooms


def text_of_pyproject() -> str:
    """Return the text of pyproject.toml."""
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_provisional_numbers_are_those_of_the_proto() -> None:
    controller = csi_pb2.ControllerServiceCapability.RPC.GET_NODE_INFO
    node = csi_pb2.NodeServiceCapability.RPC.NODE_INFO_FROM_CONTROLLER

    text = text_of("docs/kep-6011-coverage.md")
    assert f"`GET_NODE_INFO` = {controller}" in text
    assert f"`NODE_INFO_FROM_CONTROLLER` = {node}" in text


def test_the_documents_have_no_tabs_but_in_go_and_no_blanks_at_the_end_of_lines() -> None:
    go = {
        (block.document, block.line + offset)
        for block in all_blocks()
        if block.language == "go"
        for offset in range(1, len(block.lines) + 1)
    }
    found = [
        f"{document}:{number}"
        for document in documents()
        for number, line in enumerate(text_of(document).splitlines(), start=1)
        if ("\t" in line and (document, number) not in go) or line != line.rstrip()
    ]

    assert found == []


@pytest.mark.parametrize("service", DESCRIPTORS)
def test_every_rpc_of_the_control_api_has_a_line_in_its_order(service: str) -> None:
    names = [name for cells in rows(CONTROL_API, service) for name in codes_in(cells[0])]
    listed = [name for name in names if name[0].isupper()]  # no part of a reset

    assert listed == [method.name for method in DESCRIPTORS[service].methods]


def test_errors_of_the_control_api_stand_beside_their_codes() -> None:
    documented = {codes_in(cells[0])[0]: cells[1] for cells in rows(CONTROL_API, "Errors")[1:]}

    own = [kind for kind in control_status.CODES if kind.__module__ == control_errors.__name__]
    assert documented == {kind.__name__: control_status.CODES[kind].name for kind in own}


def test_every_request_with_force_is_listed() -> None:
    listed = [codes_in(cells[0])[0] for cells in rows(CONTROL_API, "Force")[1:]]

    forced = [
        method.name
        for method in DESCRIPTORS["Cloud"].methods
        if "force" in method.input_type.fields_by_name
    ]
    assert sorted(listed) == sorted(forced)


def test_the_parts_of_a_reset_and_the_limits_of_the_control_api_are_those_of_the_program() -> None:
    parts = [codes_in(cells[0]) for cells in rows(CONTROL_API, "State")]
    limits = [int(cells[1]) for cells in rows(CONTROL_API, "Limits")[1:]]

    assert [names[0] for names in parts if names and names[0] in PARTS] == list(PARTS)
    assert limits == [
        paging.DEFAULT_PAGE_SIZE,
        paging.MAX_PAGE_SIZE,
        network_interfaces.MAX_AT_ONCE,
        MAX_SNAPSHOTS,
        CONTROL_THREADS,
    ]
