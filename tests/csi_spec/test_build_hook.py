"""The build hook compiles csi.proto, or says loudly why it did not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build


def test_a_proto_that_protoc_refuses_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "broken.proto").write_text('syntax = "proto3"; message Broken {')

    with pytest.raises(RuntimeError, match="protoc could not compile"):
        hatch_build.Protos(".", ("broken",)).compile(tmp_path, tmp_path)


def test_a_generated_import_that_is_not_found_fails_the_build(tmp_path: Path) -> None:
    # Without a service nothing is imported.
    (tmp_path / "plain.proto").write_text('syntax = "proto3"; message M {}')

    with pytest.raises(RuntimeError, match="'import plain_pb2 as plain__pb2' once, found 0"):
        hatch_build.Protos(".", ("plain",), as_plain_files=True).compile(tmp_path, tmp_path)


def test_importing_the_messages_does_not_import_grpc() -> None:
    program = "import sys; from csi_spec import csi_pb2; assert 'grpc' not in sys.modules"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
