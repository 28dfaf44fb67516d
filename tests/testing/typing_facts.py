"""What a type checker knows of a mock: nothing here is run, mypy reads it.

A wrong use has a `type: ignore`; mypy reports one that hides nothing, so each of them is found.
"""

from __future__ import annotations

from typing import assert_type

from csi_spec import csi_pb2
from mockdriver.client import Call
from mockdriver.control.v1 import cloud_pb2, faults_pb2
from mockdriver.testing import Driver, start


def answers_have_types(driver: Driver) -> None:
    info = driver.csi.controller.ControllerGetNodeInfo(node_id="i")
    assert_type(info, csi_pb2.ControllerGetNodeInfoResponse)
    request = csi_pb2.NodeGetInfoRequest(controller_get_node_info=True)
    assert_type(driver.csi.node_of("i").NodeGetInfo(request), csi_pb2.NodeGetInfoResponse)
    call = driver.csi.node.NodeGetInfo.within(1).begin(request)
    assert_type(call.result(), csi_pb2.NodeGetInfoResponse)
    assert_type(driver.cloud.attach("i", "d", wait=True), cloud_pb2.Attachment)
    assert_type(driver.control.faults.list(), list[faults_pb2.Fault])
    assert_type(driver.calls("NodeGetInfo", code="!OK").list(), list[Call])
    assert_type(driver.calls("NodeGetInfo").count, int)


def fields_of_requests_are_known(driver: Driver) -> None:
    controller = driver.csi.controller
    controller.ControllerGetNodeInfo(nodeid="i")  # type: ignore[call-overload]
    controller.ControllerGetNodeInfo(node_id=1)  # type: ignore[call-overload]
    controller.ControllerGetNodeInfo(csi_pb2.NodeGetInfoRequest())  # type: ignore[call-overload]
    controller.CreateVolume.begin(names="x")  # type: ignore[call-overload]


def words_of_faults_and_calls_are_known(driver: Driver) -> None:
    driver.fail("NodeGetInfo", code="ABORTED", timez=2)  # type: ignore[call-arg]
    driver.fail("NodeGetInfo", code="ABORTED", times="two")  # type: ignore[arg-type]
    driver.hold("NodeGetInfo", when="later")  # type: ignore[arg-type]
    driver.calls("NodeGetInfo", node="i")  # type: ignore[call-arg]
    driver.control.faults.add(rpc="NodeGetInfo", delay=2)  # type: ignore[arg-type]


def options_are_known() -> None:
    start("three-zones", nodez="*")  # type: ignore[call-arg]
    start("three-zones", node_mounts="real")  # type: ignore[arg-type]
    start(3)  # type: ignore[arg-type]
