"""Build hook: compiles csi_spec/csi.proto and gathers what a wheel holds besides the packages.

An editable install writes the generated modules beside csi.proto, where .gitignore keeps them out
of the repository. A wheel takes them from a temporary folder, so building one leaves the source
tree as it was.
"""

from __future__ import annotations

import tempfile
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROTO_PACKAGE = "csi_spec"
PROTO_FILE = "csi.proto"
GENERATED = ("csi_pb2.py", "csi_pb2.pyi", "csi_pb2_grpc.py", "csi_pb2_grpc.pyi")

# protoc writes imports for a file that lies on sys.path. Ours lies in a package, but must be
# compiled as plain `csi.proto`, the name under which every CSI program registers it.
IMPORTS_TO_PATCH = {
    "csi_pb2_grpc.py": (
        "import csi_pb2 as csi__pb2\n",
        "from csi_spec import csi_pb2 as csi__pb2\n",
    ),
    "csi_pb2_grpc.pyi": (
        "import csi_pb2 as _csi_pb2\n",
        "from csi_spec import csi_pb2 as _csi_pb2\n",
    ),
}

SCENARIOS_SOURCE = "scenarios"
SCENARIOS_IN_WHEEL = "mockdriver/scenarios"


class CompileProto(BuildHookInterface):  # type: ignore[type-arg]  # hatchling ships no config type
    """Hatchling calls `initialize` before, and `finalize` after, each wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the proto; `version` is hatchling's word for the kind: editable or standard."""
        root = Path(self.root)
        if version == "editable":
            compile_proto(root / PROTO_PACKAGE, root / PROTO_PACKAGE)
            return
        self._folder = tempfile.TemporaryDirectory()
        compile_proto(root / PROTO_PACKAGE, Path(self._folder.name))
        included = build_data["force_include"]
        for name in GENERATED:
            included[str(Path(self._folder.name) / name)] = f"{PROTO_PACKAGE}/{name}"
        included[str(root / SCENARIOS_SOURCE)] = SCENARIOS_IN_WHEEL

    def finalize(self, version: str, *_: object) -> None:
        """Remove the temporary folder of `initialize`."""
        if version != "editable":
            self._folder.cleanup()


def compile_proto(source: Path, target: Path) -> None:
    """Write the modules and type stubs of csi.proto in folder `source` into folder `target`.

    Raises RuntimeError when protoc refuses the file or no longer writes the import to be patched.
    """
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
            PROTO_FILE,
        ]
    )
    if status != 0:
        raise RuntimeError(f"protoc could not compile {source / PROTO_FILE}: status {status}")
    for name, (found, wanted) in IMPORTS_TO_PATCH.items():
        _replace_once(target / name, found, wanted)


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
