"""A driver over a small region, called as a gRPC server would call it, without gRPC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

import grpc
import pytest
from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.cloud import Disk, Instance
from mockdriver.co.calling import Answer
from mockdriver.driver import calls
from mockdriver.driver.capabilities import Capabilities, Capability
from mockdriver.driver.context import DriverConfig, NodeInfoReply, NodeMounts
from mockdriver.driver.driver import Driver
from mockdriver.driver.in_flight import InFlight
from mockdriver.journal import Entry, Journal
from mockdriver.runtime import Runtime
from tests.cloud.small_region import ZONE, SmallRegion

GIB = 1024**3
SERVICES = ("Identity", "Controller", "Node")

Mode = csi_pb2.VolumeCapability.AccessMode
AccessMode: TypeAlias = csi_pb2.VolumeCapability.AccessMode.Mode.ValueType


class Aborted(Exception):
    """Ends a handler as grpc.ServicerContext.abort does."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(code.name, details)
        self.code, self.details = code, details


class Peer:
    """Stands in for grpc.ServicerContext: somebody who waits for an answer, or hangs up."""

    def __init__(self, name: str = "unix:test") -> None:
        self._name = name
        self._callbacks: list[Callable[[], None]] = []
        self.has_left = False
        self.metadata: tuple[tuple[str, str], ...] = ()
        self.trailing_metadata: tuple[tuple[str, bytes], ...] = ()

    def peer(self) -> str:
        return self._name

    def add_callback(self, callback: Callable[[], None]) -> bool:
        if not self.has_left:
            self._callbacks.append(callback)
        return not self.has_left

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self.metadata

    def set_trailing_metadata(self, trailing_metadata: tuple[tuple[str, bytes], ...]) -> None:
        self.trailing_metadata = trailing_metadata

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        raise Aborted(code, details)

    def hang_up(self) -> None:
        """Leave: what was to run at the end of the call runs now."""
        self.has_left = True
        for callback in self._callbacks:
            callback()


def capability(mode: AccessMode = Mode.SINGLE_NODE_WRITER) -> csi_pb2.VolumeCapability:
    """Return a capability that is complete."""
    return csi_pb2.VolumeCapability(
        mount=csi_pb2.VolumeCapability.MountVolume(),
        access_mode=csi_pb2.VolumeCapability.AccessMode(mode=mode),
    )


def request_class(rpc: str) -> type[Message]:
    """Return the class of an RPC's requests."""
    found: type[Message] = getattr(csi_pb2, f"{rpc}Request")
    return found


class SmallDriver:
    """A driver whose sockets are left out: `call` is what a call over one would come to.

    Its Node service runs on `node`. The cloud is `region`; an empty one by default.
    """

    def __init__(
        self,
        region: SmallRegion | None = None,
        *,
        node: str | None = "i-1",
        switches: Mapping[Capability, bool] | None = None,
        numbers: Mapping[Capability, int] | None = None,
        node_info_reply: NodeInfoReply = NodeInfoReply.OMIT,
        node_mounts: NodeMounts = NodeMounts.DIRECTORY,
        on_end: Callable[[Entry], None] | None = None,
    ) -> None:
        self.region = SmallRegion() if region is None else region
        self.runtime = self.region.runtime
        self.operator = self.region.operator
        self.journal = Journal(self.runtime, on_end=on_end)
        self.capabilities = Capabilities(switches, numbers)
        config = DriverConfig(
            vendor_version="1.2.3",
            capabilities=self.capabilities,
            node_info_reply=node_info_reply,
            node_mounts=node_mounts,
        )
        self._guards: list[InFlight] = []
        with self._remembering_guards():
            self.driver = Driver(config, self.region.cloud, self.runtime, self.journal)
        self.faults = self.driver.faults
        self._node = node
        self._names = 0

    @contextmanager
    def _remembering_guards(self) -> Iterator[None]:
        """Keep each guard of calls in flight that is made meanwhile."""

        def remembered(runtime: Runtime) -> InFlight:
            self._guards.append(InFlight(runtime))
            return self._guards[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(calls, "InFlight", remembered)
            yield

    # ------------------------------------------------------------------------------ any call

    def call(self, rpc: str, request: Message | None = None, peer: Peer | None = None) -> Answer:
        """Make a call, with an empty request where none is given."""
        body = (request or request_class(rpc)()).SerializeToString()
        return self.call_with_bytes(rpc, body, peer)

    def call_with_bytes(
        self, rpc: str, body: bytes, peer: Peer | None = None, *, at_node: str | None = None
    ) -> Answer:
        """Make a call with whatever bytes, at the Node service of `at_node` if that is given."""
        with self._remembering_guards():
            services = self.driver.handlers(self._node if at_node is None else at_node)
        handler = next(services[name][rpc] for name in SERVICES if rpc in services[name])
        try:
            response_bytes = handler(body, peer or Peer())
        except Aborted as aborted:
            return Answer(aborted.code.name, message=aborted.details)
        response = getattr(csi_pb2, f"{rpc}Response").FromString(response_bytes)
        return Answer("OK", response)

    # --------------------------------------------------------------------- the calls of a CO

    def create(self, name: str, **fields: Any) -> Answer:
        """Call CreateVolume; `fields` go into the request."""
        fields.setdefault("volume_capabilities", [capability()])
        return self.call("CreateVolume", csi_pb2.CreateVolumeRequest(name=name, **fields))

    def new_volume(self, zone: str = ZONE) -> str:
        """Create a volume in a zone and return its id."""
        self._names += 1
        answer = self.create(f"volume-{self._names}", accessibility_requirements=in_zone(zone))
        return str(of(answer).volume.volume_id)

    def delete(self, volume: str) -> Answer:
        """Call DeleteVolume."""
        return self.call("DeleteVolume", csi_pb2.DeleteVolumeRequest(volume_id=volume))

    def publish(
        self,
        volume: str,
        node: str = "i-1",
        *,
        mode: AccessMode = Mode.SINGLE_NODE_WRITER,
        readonly: bool = False,
        peer: Peer | None = None,
    ) -> Answer:
        """Call ControllerPublishVolume."""
        request = csi_pb2.ControllerPublishVolumeRequest(
            volume_id=volume,
            node_id=node,
            volume_capability=capability(mode),
            readonly=readonly,
        )
        return self.call("ControllerPublishVolume", request, peer)

    def publish_new(self, count: int, node: str = "i-1") -> list[str]:
        """Create and publish volumes; return their ids."""
        volumes = [self.new_volume() for _ in range(count)]
        for volume in volumes:
            of(self.publish(volume, node))
        return volumes

    def unpublish(self, volume: str, node: str = "i-1", peer: Peer | None = None) -> Answer:
        """Call ControllerUnpublishVolume; an empty `node` means every node."""
        request = csi_pb2.ControllerUnpublishVolumeRequest(volume_id=volume, node_id=node)
        return self.call("ControllerUnpublishVolume", request, peer)

    def get_controller_info(self, node: str = "i-1", peer: Peer | None = None) -> Answer:
        """Call ControllerGetNodeInfo."""
        request = csi_pb2.ControllerGetNodeInfoRequest(node_id=node)
        return self.call("ControllerGetNodeInfo", request, peer)

    def controller_info(self, node: str = "i-1") -> csi_pb2.ControllerGetNodeInfoResponse:
        """Return what ControllerGetNodeInfo answers; it must be OK."""
        response = of(self.get_controller_info(node))
        assert isinstance(response, csi_pb2.ControllerGetNodeInfoResponse)
        return response

    def node_info(self, node: str = "i-1", *, flagged: bool = False) -> csi_pb2.NodeGetInfoResponse:
        """Return what NodeGetInfo answers on a node; it must be OK."""
        request = csi_pb2.NodeGetInfoRequest(controller_get_node_info=flagged)
        body = request.SerializeToString()
        response = of(self.call_with_bytes("NodeGetInfo", body, at_node=node))
        assert isinstance(response, csi_pb2.NodeGetInfoResponse)
        return response

    # --------------------------------------------------------------------------------- time

    def pause(self, seconds: float) -> None:
        """Let the clock of the runtime move; others run meanwhile."""
        self.runtime.wait(self.runtime.event(), self.runtime.now() + seconds)

    # -------------------------------------------------------------------------- what is seen

    def cloud_calls(self) -> dict[str, int]:
        """Return the APIs of the cloud that were called, with the number of calls."""
        return {name: count for name, count in self.region.api.calls().items() if count}

    def keys_in_flight(self) -> int:
        """Return how many objects are held by calls in flight."""
        return sum(len(guard._held) for guard in self._guards)

    def codes(self) -> list[str]:
        """Return the codes of all calls so far, in the order in which they arrived."""
        return [entry.code for entry in self.journal.entries()]


def of(answer: Answer) -> Any:
    """Return the response of an answer that must be OK."""
    assert answer.code == "OK", f"{answer.code}: {answer.message}"
    return answer.response


def in_zone(*zones: str) -> csi_pb2.TopologyRequirement:
    """Return the requirement to be in one of the zones, the first ones preferred."""
    topologies = [topology(zone) for zone in zones]
    return csi_pb2.TopologyRequirement(requisite=topologies, preferred=topologies)


def topology(zone: str) -> csi_pb2.Topology:
    """Return the topology of a zone with this driver's keys."""
    return csi_pb2.Topology(
        segments={
            "topology.mock.csi.example.com/zone": zone,
            "topology.mock.csi.example.com/region": "region-1",
        }
    )


def worked_example() -> SmallDriver:
    """Return the example of KEP-6011: 25 shared slots, 2 interfaces, boot + manual + 8 volumes.

    The CO's eight are named `csi-1` to `csi-8`.
    """
    region = SmallRegion()
    region.add_instance(slots=25, shared=True, interfaces=2, boot_disk="vol-boot")
    region.operator.attach(region.add_disk("vol-manual"), "i-1")
    driver = SmallDriver(region)
    for disk in region.add_disks(8, "csi"):
        of(driver.publish(disk))
    return driver


def add_shared_disk(region: SmallRegion, name: str, max_attachments: int = 2) -> str:
    """Add a disk that several instances can have at once."""
    region.operator.add_disk(Disk(id=name, zone=ZONE, max_attachments=max_attachments))
    return name


def add_untyped_instance(region: SmallRegion, name: str, boot_disk: str | None = None) -> str:
    """Add an instance without a type."""
    region.operator.add_instance(Instance(id=name, zone=ZONE), boot_disk=boot_disk)
    return name
