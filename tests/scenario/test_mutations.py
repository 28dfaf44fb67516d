"""Whatever is done to the text of a scenario, it loads, or the mistakes are said in lines.

What loads can be built: a cloud never refuses what the checks let pass.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockdriver.runtime import VirtualRuntime
from mockdriver.scenario.build import build
from mockdriver.scenario.load import loads
from mockdriver.scenario.mistakes import ScenarioMistakes
from mockdriver.scenario.source import decode
from tests.scenario.samples import EVERY_VERB, WORKED_EXAMPLE

TEXTS = (WORKED_EXAMPLE, EVERY_VERB)
LINE = re.compile(r"f:[1-9][0-9]*:[1-9][0-9]*: \S.*: \S.*")
REST = re.compile(r"f: and (at least )?[0-9]+ more")
JARGON = re.compile(r"Input should|pydantic|dict\b|NoneType|Traceback|valid string|Field required")

# what stands for a value: scalars, tags, anchors, aliases, collections, and pieces of syntax
VALUES = (
    *("", "~", "5", "-1", "1.5", "0x10", "true", "no", ".nan", "-.inf", "1e999", "9" * 30),
    *("x", '""', "'x", '"x', '"\\ud800"', '"\\UFFFFFFFF"', "2026-11-30", "\x7f", "\x00", "\t"),
    *("*a", "&a x", "&a [*a]", "!x y", "!!int x", "!!python/object:os.system x", "!!map {}"),
    *("[]", "{}", "[x, x]", "[5, {}]", "{a: b}", "{a: b, a: c}", "[[[]]]", "{{a: b}: c}"),
    *("|", "> x", "a: b", "- a", "? a", "@x", "%x", "#", "null: x", "<<: {a: b}"),
    *("after 2s", "5s", "i-worker-1", "i-a", "vol-p", "small", "zone-2", "OK", "<= 3"),
)
KEYS = (
    *("scenario", "about", "driver", "cloud", "story", "faults", "id", "type", "zone", "count"),
    *("attached", "disks", "slots", "expect", "register", "publish", "node", "volume", "release"),
    *("code", "x", "5", "<<"),
)
CHANGES = ("keep", "keep", "delete", "twice", "swap", "indent", "cut", "byte")

_PLACES = [
    [match.span() for match in re.finditer(r"[\w.\"'{}-]+(?=[,}\]]|$)", text, re.MULTILINE)]
    for text in TEXTS
]
_KEY_PLACES = [[match.span() for match in re.finditer(r"\w+(?=:)", text)] for text in TEXTS]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return the bytes of a scenario with one to four changes."""
    which = draw(st.integers(0, len(TEXTS) - 1))
    text = TEXTS[which]
    for start, end in sorted(
        draw(st.lists(st.sampled_from(_PLACES[which]), max_size=3, unique=True)), reverse=True
    ):
        text = text[:start] + draw(st.sampled_from(VALUES)) + text[end:]
    if draw(st.booleans()):
        # places may have moved by now, which makes the change a wilder one
        start, end = draw(st.sampled_from(_KEY_PLACES[which]))
        text = text[:start] + draw(st.sampled_from(KEYS)) + text[end:]
    lines = text.split("\n")
    place = draw(st.integers(0, len(lines) - 1))
    match draw(
        st.sampled_from(("keep", "keep", "delete", "twice", "swap", "indent", "cut", "byte"))
    ):
        case "delete":
            del lines[place]
        case "twice":
            lines.insert(place, lines[place])
        case "swap":
            lines[place], lines[0] = lines[0], lines[place]
        case "indent":
            lines[place] = draw(st.sampled_from((" ", "  ", "\t", "    "))) + lines[place]
        case "cut":
            lines[place] = lines[place][: draw(st.integers(0, 40))]
        case "byte":
            content = bytearray("\n".join(lines).encode())
            content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
            return bytes(content)
    return "\n".join(lines).encode()


def lines_about(content: bytes) -> list[str]:
    """Return the lines that tell of mistakes in a file; none if it loads and can be built."""
    try:
        scenario = loads(decode(content, "f"), "f")
    except ScenarioMistakes as mistakes:
        return str(mistakes).splitlines() or ["mistakes without a line"]
    cloud = build(scenario, VirtualRuntime(), published_tags={})
    assert len(cloud.operator.instances()) == len(scenario.plan.instances)
    return []


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(mutated())
def test_a_changed_scenario_loads_or_its_mistakes_are_said(content: bytes) -> None:
    for line in lines_about(content):
        assert LINE.fullmatch(line) or REST.fullmatch(line)
        assert line.isprintable()
        assert not JARGON.search(line)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:- \n\t[]{},&*!|>'\"%@`#?~.0<\\ux", max_size=60))
def test_any_text_is_read_or_its_mistakes_are_said(text: str) -> None:
    for line in lines_about(text.encode()):
        assert LINE.fullmatch(line)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for line in lines_about(content):
        assert LINE.fullmatch(line)


_DISKS = ("d-1", "d-2", "d-3")
_some_ids = st.lists(st.sampled_from(_DISKS), max_size=2, unique=True)
_zones = st.sampled_from(("z-1", "z-2"))


def _mapping(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=values)


_clouds = _mapping(
    zones=st.lists(_zones, min_size=1, max_size=2, unique=True),
    instance_types=st.fixed_dictionaries(
        {
            "t": _mapping(
                slots=st.integers(0, 4),
                network_interfaces_share_slots=st.booleans(),
                boot_disk_uses_slot=st.booleans(),
            )
        }
    ),
    instances=st.lists(
        _mapping(
            id=st.sampled_from(("i-1", "i-2", "i-3")),
            type=st.just("t"),
            zone=_zones,
            network_interfaces=st.integers(0, 3),
            boot_disk=st.sampled_from(_DISKS),
            attached=st.integers(0, 2) | _some_ids,
            published=st.integers(0, 2) | _some_ids,
        ),
        max_size=3,
    ),
    disks=st.lists(
        st.fixed_dictionaries(
            {"id": st.sampled_from(_DISKS)},
            optional={"zone": _zones, "max_attachments": st.integers(1, 2)},
        ),
        max_size=2,
    ),
)


@settings(max_examples=300, deadline=None)
@given(_clouds)
def test_a_cloud_without_mistakes_can_be_built(cloud: dict[str, Any]) -> None:
    # JSON is YAML; `lines_about` builds what loads
    for line in lines_about(json.dumps({"scenario": "x", "cloud": cloud}).encode()):
        assert LINE.fullmatch(line)
