"""A project may have CSI stubs of its own, and protobuf holds one csi.proto in an interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import their_csi_pb2
import mockdriver.testing

assert "csi_spec.csi_pb2" not in sys.modules
with mockdriver.testing.start() as driver:
    print(driver.control.endpoint == driver.endpoint)
    ask = driver.channel().unary_unary(
        "/csi.v1.Node/NodeGetInfo",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=their_csi_pb2.NodeGetInfoResponse.FromString,
    )
    print(ask(their_csi_pb2.NodeGetInfoRequest(), timeout=60).node_id)
    for _ in range(2):
        try:
            driver.csi
        except mockdriver.testing.CsiStubsCollide as error:
            print(error)
"""
"""What still works for such a project, and what it is told of the rest."""

THEIR_CSI = """
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message_factory import GetMessageClass
file = descriptor_pb2.FileDescriptorProto(name={name!r}, package="csi.v1", syntax="proto3")
file.message_type.add(name="GetPluginInfoRequest")
file.message_type.add(name="NodeGetInfoRequest")
file.message_type.add(name="NodeGetInfoResponse").field.add(name="node_id", number=1, type=9)
DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
DESCRIPTOR = descriptor_pool.Default().FindFileByName({name!r})
NodeGetInfoRequest = GetMessageClass(DESCRIPTOR.message_types_by_name["NodeGetInfoRequest"])
NodeGetInfoResponse = GetMessageClass(DESCRIPTOR.message_types_by_name["NodeGetInfoResponse"])
"""


@pytest.mark.parametrize("name", ["csi.proto", "github.com/their/fork/csi.proto"])
@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_their_stubs_work_and_ours_say_why_they_do_not(
    name: str, implementation: str, tmp_path: Path
) -> None:
    (tmp_path / "their_csi_pb2.py").write_text(THEIR_CSI.format(name=name))
    (tmp_path / "program.py").write_text(PROGRAM)

    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    same_endpoint, node_id, first, second = done.stdout.splitlines()
    assert (same_endpoint, node_id) == ("True", "i-worker-1")
    assert first == second
    assert f"another {name}, registered by the module their_csi_pb2" in first
    assert "Use those stubs on driver.channel()" in first
