"""The calls that a fault can be about: of the RPCs of CSI, and of the APIs of the cloud."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from csi_spec import csi_pb2


class RpcTypes(NamedTuple):
    """The messages of one RPC, and the service that it belongs to."""

    service: str
    request: Descriptor
    response: Descriptor


@cache
def rpcs() -> Mapping[str, RpcTypes]:
    """Return all RPCs of csi.proto that answer once, by name; no two services share a name."""
    return {
        method.name: RpcTypes(service.name, method.input_type, method.output_type)
        for service in csi_pb2.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if not method.server_streaming
    }


class RpcCall(NamedTuple):
    """A call of an RPC. `node_id` is the request's, or the node whose Node service is asked."""

    name: str
    request: Message
    node_id: str | None = None


class CloudCall(NamedTuple):
    """A call of a cloud API. `fields` are what it names, without what it does not."""

    name: str
    fields: Mapping[str, str]

    @property
    def node_id(self) -> str | None:
        """The instance that the call is about."""
        return self.fields.get("instance")


Call = RpcCall | CloudCall
"""What a fault may act on."""


def node_of(rpc: str, request: Message, served_node: str | None) -> str | None:
    """Return the node that a call is about: the request's node_id, else the node that is asked."""
    if "node_id" in rpcs()[rpc].request.fields_by_name:
        return str(request.node_id)  # type: ignore[attr-defined]
    return served_node
