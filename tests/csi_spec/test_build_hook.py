"""The build hook compiles csi.proto, or says loudly why it did not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build


def test_a_proto_that_protoc_refuses_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "csi.proto").write_text('syntax = "proto3"; message Broken {')

    with pytest.raises(RuntimeError, match="protoc could not compile"):
        hatch_build.compile_proto(tmp_path, tmp_path)


def test_a_generated_import_that_is_not_found_fails_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "csi.proto").write_text('syntax = "proto3"; message M {} service S {}')
    changed = {"csi_pb2_grpc.py": ("import something_else\n", "")}
    monkeypatch.setattr(hatch_build, "IMPORTS_TO_PATCH", changed)

    with pytest.raises(RuntimeError, match="'import something_else' once, found 0"):
        hatch_build.compile_proto(tmp_path, tmp_path)


def test_importing_the_messages_does_not_import_grpc() -> None:
    program = "import sys; from csi_spec import csi_pb2; assert 'grpc' not in sys.modules"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
