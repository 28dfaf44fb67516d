"""The descriptors that reflection serves: csi.proto's, with the enum numbers that are in use."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FileDescriptor
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import Capabilities, Capability

_ENUM_PATHS = {
    "controller": ("ControllerServiceCapability", "RPC", "Type"),
    "node": ("NodeServiceCapability", "RPC", "Type"),
}


def reflected(
    capabilities: Capabilities, beside: Iterable[FileDescriptor] = ()
) -> descriptor_pool.DescriptorPool:
    """Return a pool in which the overridden capability numbers stand as they are advertised.

    So a client that asks the server for its schema reads the right names. Without overrides it is
    the pool of the program itself. `beside` are the files of what else the server serves.
    """
    if not capabilities.overridden_numbers:
        return descriptor_pool.Default()
    pool = descriptor_pool.DescriptorPool()
    _copy(pool, reflection_pb2.DESCRIPTOR)
    _copy(pool, health_pb2.DESCRIPTOR)
    for dependency in csi_pb2.DESCRIPTOR.dependencies:
        _copy(pool, dependency)
    for other in beside:
        for dependency in other.dependencies:
            _copy(pool, dependency)
        _copy(pool, other)
    file = descriptor_pb2.FileDescriptorProto()
    csi_pb2.DESCRIPTOR.CopyToProto(file)
    for capability, number in capabilities.overridden_numbers.items():
        _renumber(file, capability, number)
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _copy(pool: descriptor_pool.DescriptorPool, file: FileDescriptor) -> None:
    pool.AddSerializedFile(file.serialized_pb)


def _renumber(
    file: descriptor_pb2.FileDescriptorProto, capability: Capability, number: int
) -> None:
    outer, inner, enum_name = _ENUM_PATHS[capability.service]
    message = next(item for item in file.message_type if item.name == outer)
    nested = next(item for item in message.nested_type if item.name == inner)
    enum = next(item for item in nested.enum_type if item.name == enum_name)
    value = next(item for item in enum.value if item.name == capability.name)
    value.number = number
