"""Every block of every document is executed, or is on the short list of those that are not."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from mockdriver.cli import main
from mockdriver.play import play
from mockdriver.scenario.load import load, loads
from mockdriver.scenario.mistakes import ScenarioMistakes
from tests.docs.blocks import (
    ROOT,
    Block,
    UnclosedFence,
    all_blocks,
    blocks_of,
    documents,
    parse,
    text_of,
)
from tests.docs.transcripts import (
    Command,
    NotATranscript,
    commands_of,
    mismatches,
    programs_needed,
)

ATTRIBUTES = {
    "yaml": {"file", "mistakes", "mismatches"},
    "console": {"server", "cluster"},
    "sh": set[str](),
    "python": {"file"},
    "go": {"same"},
}
"""The languages that blocks may have, and the attributes that each may have:

* yaml: a whole scenario. It is checked, and played if it has a story. `file=NAME` puts it into the
  folder of the document's session. `mistakes` says that it must not be right, `mismatches` that its
  story must not go as it says.
* console: commands and their output, see transcripts.py. Those with `cluster=SCENARIO` need a
  cluster, as `make cluster` starts it; e2e/test_documents.py runs them.
* sh: commands that cannot run inside a test; see NOT_RUN_HERE.
* python: a file in the folder of the document's session; a command there runs it, or a file that
  one runs.
* go: `same=PATH` of a file in the repository, word for word; tests/go runs it.
"""

_BUILD = ".venv/bin/python -m tools.kubernetes_programs"
_BUILD_TESTS = "tests/packaging/test_kubernetes_programs.py"
_ATTACHER = "github.com/kubernetes-csi/external-attacher/v4"
NOT_RUN_HERE = {
    "pip install 'mockdriver[pytest]'": "tests/packaging/test_pytest_plugin.py",
    "python3 -m venv my-venv": "tests/packaging/test_distributions.py",
    "my-venv/bin/pip install .": "tests/packaging/test_distributions.py",
    "my-venv/bin/mockdriver --version": "tests/packaging/test_distributions.py",
    ".venv/bin/python -m benchmarks": "benchmarks/__main__.py",
    ".venv/bin/python -m tools.go_programs": "tests/packaging/test_go_programs.py",
    ".venv/bin/pytest tests/docs": "tests/docs/test_blocks.py",
    ".venv/bin/python -m tests.dashboard.picture": "tests/dashboard/picture.py",
    ".venv/bin/python -m tools.chromium": "tests/packaging/test_chromium.py",
    ".venv/bin/python -m tools.service_docs": "tests/docs/test_service_docs.py",
    _BUILD: _BUILD_TESTS,
    f"{_BUILD} --replace {_ATTACHER}=../external-attacher --into forked": "e2e/test_forks.py",
    f"{_BUILD} --kubernetes ../kubernetes --into forked": _BUILD_TESTS,
}
"""Commands of sh blocks, and the file that does what they do. Make's targets need no entry."""

CONTAINER = "docs/container.md"
_RUN = "docker run --rm --volume /run/mockdriver:/run/mockdriver"
_CONTROLLER_AND_NODES = (
    "serve --scenario csi-sanity --role controller --node-socket-dir /run/mockdriver/nodes"
)
_PAGE = (
    "--publish 127.0.0.1:8080:8080 --env MOCKDRIVER_DASHBOARD_TOKEN mockdriver "
    "serve --dashboard 0.0.0.0:8080"
)
FOR_A_CONTAINER_ENGINE = (
    "docker build --tag mockdriver .",
    "install --directory --owner 65532 --group 65532 /run/mockdriver",
    f"{_RUN} mockdriver",
    f"{_RUN} --env MOCKDRIVER_SCENARIO=csi-sanity mockdriver",
    f"{_RUN} mockdriver {_CONTROLLER_AND_NODES}",
    "docker run --rm mockdriver scenarios",
    f"{_RUN} {_PAGE}",
    f"{_RUN} --volume '$PWD/first.yaml:/first.yaml:ro' mockdriver serve --scenario /first.yaml",
)
"""Commands of docs/container.md; where there is an engine, they can be run by hand."""

YAML_BLOCKS = [block for block in all_blocks() if block.language == "yaml"]
RIGHT = [block for block in YAML_BLOCKS if "mistakes" not in block.attributes]
WRONG = [block for block in YAML_BLOCKS if "mistakes" in block.attributes]
SHELL_LINES = [
    (block, line) for block in all_blocks() if block.language == "sh" for line in block.lines
]


def _session(document: str) -> list[Command]:
    consoles = [
        block
        for block in blocks_of(document)
        if block.language == "console" and "cluster" not in block.attributes
    ]
    return [command for block in consoles for command in commands_of(block)]


SESSIONS = [
    pytest.param(name, marks=[pytest.mark.go] if programs_needed(_session(name)) else [])
    for name in documents()
    if _session(name)
]


def _in_place(block: Block) -> str:
    """Return the block's text, with empty lines before it, so that line numbers are right."""
    return "\n" * block.line + block.text


def test_every_block_has_a_language_and_attributes_that_the_tests_know() -> None:
    unknown = [
        f"{block}: ```{block.language} {' '.join(block.attributes)}"
        for block in all_blocks()
        if block.language not in ATTRIBUTES
        or not block.attributes.keys() <= ATTRIBUTES[block.language]
    ]

    assert unknown == []


@pytest.mark.parametrize("block", RIGHT, ids=str)
def test_a_scenario_has_no_mistakes_and_its_story_goes_as_it_says(block: Block) -> None:
    scenario = loads(_in_place(block), block.document)

    wrong = [
        f"{block.document}:{result.step.line}: {mismatch}"
        for result in play(scenario)
        for mismatch in result.mismatches
    ]

    if "mismatches" in block.attributes:
        assert wrong, f"{block}: is shown for its mismatches"
    else:
        assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("block", WRONG, ids=str)
def test_a_scenario_that_is_shown_for_its_mistakes_has_some(block: Block) -> None:
    with pytest.raises(ScenarioMistakes):
        loads(_in_place(block), block.document)


@pytest.mark.parametrize(
    "block", [block for block in all_blocks() if block.language == "python"], ids=str
)
def test_python_is_run_by_a_command_of_its_document(block: Block) -> None:
    name = block.attributes["file"]
    session = " ".join(command.text for command in _session(block.document))
    others = [other.text for other in blocks_of(block.document) if other.language == "python"]

    assert name in session or any(f"import {name.removesuffix('.py')}\n" in text for text in others)


@pytest.mark.parametrize(
    "block", [block for block in all_blocks() if block.language == "go"], ids=str
)
def test_go_is_a_file_of_the_example_that_is_run(block: Block) -> None:
    path = block.attributes["same"]

    assert path.startswith("docs/fixtures/go/")
    assert block.text == (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("document", SESSIONS)
def test_commands_print_what_the_document_shows(document: str) -> None:
    blocks = blocks_of(document)
    servers = {block.attributes["server"] for block in blocks if "server" in block.attributes}
    assert len(servers) <= 1, f"{document}: one session, so one server: {servers}"

    wrong = mismatches(
        _session(document),
        scenario=next(iter(servers), None),
        files=[block for block in blocks if "file" in block.attributes],
    )

    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(
    ("block", "line"), SHELL_LINES, ids=lambda item: item if isinstance(item, str) else str(item)
)
def test_a_command_that_is_not_run_here_exists(block: Block, line: str) -> None:
    words = shlex.split(line, comments=True)
    command = shlex.join(words)
    if command in FOR_A_CONTAINER_ENGINE:
        assert block.document == CONTAINER
        _require_program_with(command)
        return
    if words[:1] != ["make"]:
        assert command in NOT_RUN_HERE, f"{block}: {command}"
        assert (ROOT / NOT_RUN_HERE[command]).is_file()
        return
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words[1:]:
        name, is_variable, value = word.partition("=")
        pattern = rf"\$\({name}\)" if is_variable else rf"^{name}:"
        assert re.search(pattern, makefile, re.MULTILINE), f"{block}: the Makefile has no {name}"
        if name == "SCENARIO" and "/" not in value:
            load(value)


def _require_program_with(command: str) -> None:
    """Read what stands after the image's name as the program does; fails if it would refuse it."""
    _, is_run, arguments = command.partition(" mockdriver ")
    words = shlex.split(arguments if is_run and command.startswith("docker run") else "")
    if words:
        name, *options = words
        found = main.get_command(click.Context(main), name)
        assert found is not None, command
        context = found.make_context(name, options)
        if "scenario" in context.params and "/" not in context.params["scenario"]:
            load(context.params["scenario"])


def test_the_list_of_commands_that_are_not_run_here_has_no_leftovers() -> None:
    shown = {shlex.join(shlex.split(line, comments=True)) for _, line in SHELL_LINES}

    assert {*NOT_RUN_HERE, *FOR_A_CONTAINER_ENGINE} - shown == set()


def test_what_the_page_about_containers_says_is_in_the_dockerfile() -> None:
    dockerfile, page = (ROOT / "Dockerfile").read_text(encoding="utf-8"), text_of(CONTAINER)

    for line in ("USER 65532:65532", "VOLUME /run/mockdriver", 'ENTRYPOINT ["mockdriver"]'):
        assert f"\n{line}\n" in dockerfile
        assert line.split()[-1].strip('"[]').partition(":")[0] in page
    assert "CSI_ENDPOINT=unix:///run/mockdriver/csi.sock\n" in dockerfile
    assert 'CMD ["serve"]' in dockerfile


def test_a_block_that_is_not_closed_is_found() -> None:
    with pytest.raises(UnclosedFence, match=r"page\.md:2"):
        parse("text\n```yaml\nscenario: x\n", "page.md")


def test_a_block_knows_its_line_its_attributes_and_its_indented_text() -> None:
    [block] = parse("- item\n\n  ```console server=x\n  $ a\n    b\n  ```\n", "page.md")

    assert str(block) == "page.md:3"
    assert (block.language, block.attributes) == ("console", {"server": "x"})
    assert block.text == "$ a\n  b\n"


def test_commands_have_continuation_lines_and_output() -> None:
    block = Block("page.md", 10, "console", {}, ("$ for n in 1 2", "> do echo $n; done", "1", "2"))

    assert commands_of(block) == [
        Command("page.md", 11, "for n in 1 2\ndo echo $n; done", "1\n2"),
    ]


def test_output_without_a_command_is_found() -> None:
    with pytest.raises(NotATranscript, match=r"page\.md:2"):
        commands_of(Block("page.md", 1, "console", {}, ("output",)))


def test_a_session_keeps_variables_files_and_the_exit_status() -> None:
    commands = [
        Command("page.md", 1, "name=x; echo hello >file", ""),
        Command("page.md", 2, "cat file; echo $name >&2; (exit 3)", "hello\nx"),
        Command("page.md", 3, "echo $?", "3"),
    ]

    assert mismatches(commands) == []


def test_a_session_tells_the_line_of_a_command_that_prints_something_else() -> None:
    commands = [Command("page.md", 7, "echo b", "a"), Command("page.md", 9, "false", "")]

    first, second = mismatches(commands)

    assert first.startswith("page.md:7: $ echo b")
    assert second.startswith("page.md:9: $ false")
