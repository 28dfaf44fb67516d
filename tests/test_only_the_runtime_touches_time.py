"""Only mockdriver/runtime touches clocks, threads and chance; all else gets them injected.

That is what makes the same seed give the same run. A `import time` anywhere else would break it
without any other test noticing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "mockdriver"
RUNTIME = PACKAGE / "runtime"

FORBIDDEN_MODULES = {"threading", "_thread", "time", "random", "secrets", "sched", "uuid"}
"""Modules that bring a clock, threads or chance of their own."""

FORBIDDEN_CALLS = {
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "os": {"urandom", "getrandom", "times"},
    "asyncio": {"sleep", "to_thread"},
}
"""What must not be called on modules and classes that have other uses."""


def offences(source: str) -> list[str]:
    """Return what in a module's source touches clocks, threads or chance."""
    return [
        f"line {node.lineno}: {name}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Attribute))
        for name in _forbidden_in(node)
    ]


def _forbidden_in(node: ast.Import | ast.ImportFrom | ast.Attribute) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        owner = _last_name(node.value)
        if node.attr in FORBIDDEN_CALLS.get(owner, ()):
            yield f"{owner}.{node.attr}"
    elif isinstance(node, ast.Import):
        yield from (name.name for name in node.names if _root(name.name) in FORBIDDEN_MODULES)
    elif _root(node.module or "") in FORBIDDEN_MODULES:
        yield node.module or ""
    else:
        calls = FORBIDDEN_CALLS.get(node.module or "", set())
        yield from (f"{node.module}.{name.name}" for name in node.names if name.name in calls)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _root(module: str) -> str:
    return module.partition(".")[0]


def modules_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def named(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()


OUTSIDE = [path for path in modules_of(PACKAGE) if RUNTIME not in path.parents]
INJECTED = [*modules_of(PACKAGE / "cloud"), *modules_of(RUNTIME)]


@pytest.mark.parametrize("path", OUTSIDE, ids=named)
def test_no_clock_thread_or_chance_outside_of_the_runtime(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8")) == []


def test_the_walk_reaches_all_packages() -> None:
    packages = {path.relative_to(PACKAGE).parts[0] for path in OUTSIDE if path.parent != PACKAGE}
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == folders - {"runtime"}
    assert "cloud" in packages


def test_the_runtime_itself_would_be_found() -> None:
    found = [path for path in modules_of(RUNTIME) if offences(path.read_text(encoding="utf-8"))]
    assert {"seeded.py", "virtual.py", "wall.py"} <= {path.name for path in found}


@pytest.mark.parametrize(
    "planted",
    [
        "import threading",
        "import time as clock",
        "import os, random",
        "import concurrent.futures, time",
        "from threading import Lock",
        "from time import monotonic as now",
        "from random import Random",
        "import uuid",
        "def f():\n    import time\n    return time",
        "if True:\n    from threading import Thread",
        "class C:\n    def f(self):\n        from random import choice",
        "from datetime import datetime\nx = datetime.now()",
        "import datetime\nx = datetime.datetime.utcnow()",
        "import datetime as d\nx = d.datetime.now",
        "from datetime import date\nx = date.today()",
        "import os\nx = os.urandom(8)",
        "from os import urandom",
        "import asyncio\nasync def f():\n    await asyncio.sleep(1)",
    ],
)
def test_a_planted_offence_is_found(planted: str) -> None:
    assert offences(planted) != []


@pytest.mark.parametrize(
    "innocent",
    [
        "from datetime import datetime, UTC\nx = datetime.fromtimestamp(0, UTC)",
        "from mockdriver.runtime import Runtime\ndef f(r: Runtime) -> float: return r.now()",
        "import timeit_is_another_module",
        "import signal, os, queue",
        "x = 'import time'  # import random",
        "def f(runtime): return runtime.random('jitter')",
    ],
)
def test_what_looks_alike_is_not_found(innocent: str) -> None:
    assert offences(innocent) == []


# --------------------------------------------------------------------- the standard library only


def foreign_imports(source: str, *, allowed: tuple[str, ...]) -> list[str]:
    """Return the imported modules that are neither the standard library's nor allowed."""
    modules: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append("." * node.level + (node.module or ""))
    return [
        module
        for module in modules
        if _root(module) not in sys.stdlib_module_names
        and not any(module == name or module.startswith(f"{name}.") for name in allowed)
    ]


@pytest.mark.parametrize("path", INJECTED, ids=named)
def test_cloud_and_runtime_import_the_standard_library_and_each_other_only(path: Path) -> None:
    allowed = (
        ("mockdriver.runtime",)
        if RUNTIME in path.parents
        else ("mockdriver.cloud", "mockdriver.runtime")
    )
    assert foreign_imports(path.read_text(encoding="utf-8"), allowed=allowed) == []


@pytest.mark.parametrize(
    "planted",
    [
        "import grpc",
        "from csi_spec import csi_pb2",
        "from mockdriver.driver import rpcs",
        "import mockdriver",
        "from mockdriver import cloud",
        "from . import store",
        "import mockdriver.cloudy",
        "def f():\n    import pydantic",
    ],
)
def test_a_planted_foreign_import_is_found(planted: str) -> None:
    assert foreign_imports(planted, allowed=("mockdriver.cloud", "mockdriver.runtime")) != []
