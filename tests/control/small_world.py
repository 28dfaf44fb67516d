"""A whole mock in the test's process, and its control API without a socket."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format, message_factory
from google.protobuf.message import Message

from mockdriver.cloud import Caller, Cloud
from mockdriver.control.services import DESCRIPTORS
from mockdriver.runtime import Runtime, VirtualRuntime
from mockdriver.scenario.load import loads
from mockdriver.server.compose import DriverOverrides, make_cloud, make_server

SCENARIO = """\
scenario: small
cloud:
  zones: [zone-a, zone-b]
  instance_types: {small: {slots: 3}, shared: {slots: 5, network_interfaces_share_slots: true}}
  instances:
    - {id: i-1, type: small, boot_disk: boot-1, attached: [manual], published: [pvc]}
    - {id: i-2, type: shared, network_interfaces: 2}
    - {id: i-3, zone: zone-b}
  disks: [{id: free, size_gib: 20, max_attachments: 2, tags: {owner: me}}]
"""


class SmallWorld:
    """A server that does not listen, on a virtual clock. `call` makes calls of its control API."""

    def __init__(self, scenario: str = SCENARIO, runtime: Runtime | None = None) -> None:
        self.loaded = loads(scenario)
        self.runtime = VirtualRuntime() if runtime is None else runtime
        self.cloud: Cloud = make_cloud(self.loaded, self.runtime)
        self.server = make_server(self.loaded, self.cloud, self.runtime, DriverOverrides())
        self.control = self.server.control

    def call(self, rpc: str, caller: Caller | None = None, **fields: Any) -> Any:
        """Make a call, as in `call("Cloud.Attach", instance="i-1", disk="vol")`."""
        service, _, name = rpc.partition(".")
        request = request_of(rpc, **fields)
        return self.control.call(service, name, request, caller or Caller(self.runtime))

    def data(self, rpc: str, **fields: Any) -> dict[str, Any]:
        """Make a call; return its response as plain data, with numbers of 64 bits as text."""
        return json_format.MessageToDict(self.call(rpc, **fields), preserving_proto_field_name=True)


def request_of(rpc: str, **fields: Any) -> Message:
    """Return the request of an RPC with these fields."""
    service, _, name = rpc.partition(".")
    method = DESCRIPTORS[service].methods_by_name[name]
    return message_factory.GetMessageClass(method.input_type)(**fields)
