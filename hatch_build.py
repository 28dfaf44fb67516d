"""Build hook: compiles the .proto files and gathers what a wheel holds besides the packages.

An editable install writes the generated modules beside their .proto files, where .gitignore keeps
them out of the repository. A wheel takes them from a temporary folder, so building one leaves the
source tree as it was.
"""

from __future__ import annotations

import tempfile
from importlib import metadata, resources
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Protos(NamedTuple):
    """The .proto files of one package. `folder` is the package's, from the root of the project.

    With `as_plain_files` a file is compiled as if it lay at the root, under its bare name.
    (No dataclass: hatchling loads this file in a way that those cannot stand.)
    """

    folder: str
    names: tuple[str, ...]
    as_plain_files: bool = False

    def generated(self) -> list[str]:
        """Return the paths of what is made of them, from the root of the project."""
        endings = ("_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb2_grpc.pyi")
        return [f"{self.folder}/{name}{ending}" for name in self.names for ending in endings]

    def compile(self, root: Path, target: Path) -> None:
        """Write the modules and type stubs of the files below `root` below `target`.

        Raises RuntimeError when protoc refuses a file or no longer writes an import to be patched.
        """
        source, into, below = root, target, f"{self.folder}/"
        if self.as_plain_files:
            source, into, below = root / self.folder, target / self.folder, ""
        into.mkdir(parents=True, exist_ok=True)
        _protoc(source, into, [f"{below}{name}.proto" for name in self.names])
        if self.as_plain_files:
            for name in self.names:
                self._import_from_package(into, name)

    def _import_from_package(self, folder: Path, name: str) -> None:
        # protoc writes imports for a file that lies on sys.path; this one lies in a package.
        escaped = name.replace("_", "__")
        for ending, alias in ((".py", f"{escaped}__pb2"), (".pyi", f"_{name}_pb2")):
            _replace_once(
                folder / f"{name}_pb2_grpc{ending}",
                f"import {name}_pb2 as {alias}\n",
                f"from {self.folder} import {name}_pb2 as {alias}\n",
            )


PROTOS = (
    # Compiled as plain `csi.proto`, the name under which every CSI program registers it.
    Protos("csi_spec", ("csi",), as_plain_files=True),
    Protos("kubelet_spec", ("pluginregistration",)),
    Protos("mockdriver/control/v1", ("cloud", "faults", "journal", "state")),
)

GENERATED = tuple(path for protos in PROTOS for path in protos.generated())
"""What is made of all .proto files, as paths from the root of the project."""

SCENARIOS_SOURCE = "scenarios"
SCENARIOS_IN_WHEEL = "mockdriver/scenarios"


class CompileProto(BuildHookInterface):  # type: ignore[type-arg]  # hatchling ships no config type
    """Hatchling calls `initialize` before, and `finalize` after, each wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the protos; `version` is hatchling's word for the kind: editable or standard."""
        root = Path(self.root)
        if version == "editable":
            for protos in PROTOS:
                protos.compile(root, root)
            return
        self._folder = tempfile.TemporaryDirectory()
        included = build_data["force_include"]
        for protos in PROTOS:
            protos.compile(root, Path(self._folder.name))
            for path in protos.generated():
                included[str(Path(self._folder.name) / path)] = path
        included[str(root / SCENARIOS_SOURCE)] = SCENARIOS_IN_WHEEL

    def finalize(self, version: str, *_: object) -> None:
        """Remove the temporary folder of `initialize`."""
        if version != "editable":
            self._folder.cleanup()


def _protoc(source: Path, target: Path, files: list[str]) -> None:
    from grpc_tools import protoc  # a build requirement: absent when this file is only imported

    status = protoc.main(
        [
            "protoc",
            f"--proto_path={source}",
            f"--proto_path={resources.files('grpc_tools') / '_proto'}",
            f"--python_out={target}",
            f"--grpc_python_out={target}",
            f"--plugin=protoc-gen-mypy={_plugin('protoc-gen-mypy')}",
            f"--mypy_out=quiet:{target}",
            f"--plugin=protoc-gen-mypy_grpc={_plugin('protoc-gen-mypy_grpc')}",
            # The server and its clients are synchronous: stubs for asyncio would be noise.
            f"--mypy_grpc_out=quiet,only_sync:{target}",
            *files,
        ]
    )
    if status != 0:
        raise RuntimeError(f"protoc could not compile {', '.join(files)}: status {status}")


def _plugin(name: str) -> Path:
    """Path of a protoc plugin of the mypy-protobuf that this interpreter imports.

    PATH is no guide: pip's isolated build has its own copy, and a venv need not be activated.
    """
    for file in metadata.files("mypy-protobuf") or ():
        if file.stem == name:
            return Path(str(file.locate())).resolve()
    raise RuntimeError(f"mypy-protobuf is installed without its program {name}")


def _replace_once(path: Path, found: str, wanted: str) -> None:
    text = path.read_text(encoding="utf-8")
    count = text.count(found)
    if count != 1:
        raise RuntimeError(f"{path.name}: expected the line {found.strip()!r} once, found {count}")
    path.write_text(text.replace(found, wanted), encoding="utf-8")
