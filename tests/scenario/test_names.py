"""The names that scenarios use are those of csi.proto, of gRPC and of the driver."""

from __future__ import annotations

import grpc

from csi_spec import csi_pb2
from mockdriver.driver import capabilities
from mockdriver.driver.context import DEFAULT_NAME, NodeInfoReply
from mockdriver.scenario import driver_model
from mockdriver.scenario.capability_names import BUILT, KNOWN
from mockdriver.scenario.code_names import ACCESS_MODES, CODES
from mockdriver.scenario.load import loads

ENUMS = {
    "plugin": (
        csi_pb2.PluginCapability.Service.Type,
        csi_pb2.PluginCapability.VolumeExpansion.Type,
    ),
    "controller": (csi_pb2.ControllerServiceCapability.RPC.Type,),
    "node": (csi_pb2.NodeServiceCapability.RPC.Type,),
    "group_controller": (csi_pb2.GroupControllerServiceCapability.RPC.Type,),
}


def test_capability_names_are_those_of_csi_proto() -> None:
    for service, enums in ENUMS.items():
        names = [name for enum in enums for name in enum.DESCRIPTOR.values_by_name]
        names = [name for name in names if name != "UNKNOWN"]
        assert sorted(KNOWN[service]) == sorted(names)


def test_what_scenarios_can_switch_is_what_the_driver_has() -> None:
    ours = {(service, name) for service, names in BUILT.items() for name in names}
    assert ours == {(item.service, item.name) for item in capabilities.BUILT}


def test_access_modes_are_those_of_csi_proto() -> None:
    assert tuple(csi_pb2.VolumeCapability.AccessMode.Mode.DESCRIPTOR.values_by_name) == ACCESS_MODES


def test_codes_are_those_of_grpc() -> None:
    assert tuple(code.name for code in grpc.StatusCode) == CODES


def test_the_drivers_defaults_are_the_scenarios() -> None:
    assert driver_model.DEFAULT_NAME == DEFAULT_NAME
    for reply in NodeInfoReply:
        loaded = loads(f"scenario: x\ndriver: {{node_info_reply: {reply}}}\n")
        assert loaded.driver.node_info_reply == reply
