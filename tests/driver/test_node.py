"""NodeGetInfo in both flows, and what a flagged one may answer."""

from __future__ import annotations

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Disk, Instance
from mockdriver.cloud.errors import InstanceNotFound
from mockdriver.driver.capabilities import NODE_INFO_FROM_CONTROLLER
from mockdriver.driver.context import NodeInfoReply
from mockdriver.driver.node import MISLEADING_LIMIT, MISLEADING_ZONE
from tests.cloud.small_region import ZONE, SmallRegion
from tests.driver.small_driver import SmallDriver, add_untyped_instance, of, topology


def two_disks_out_of_band(
    node_info_reply: NodeInfoReply = NodeInfoReply.OMIT, *, flag_is_known: bool = True
) -> SmallDriver:
    """Return a driver whose node has 10 slots, of which an operator uses 2."""
    region = SmallRegion()
    region.add_instance(slots=10, boot_disk="vol-boot")
    region.operator.attach(region.add_disk("vol-manual"), "i-1")
    switches = {NODE_INFO_FROM_CONTROLLER: flag_is_known}
    return SmallDriver(region, node_info_reply=node_info_reply, switches=switches)


# ---------------------------------------------------------------------------------------- flagged


def test_a_flagged_call_is_answered_with_the_node_id_alone() -> None:
    driver = two_disks_out_of_band()
    assert driver.node_info(flagged=True) == csi_pb2.NodeGetInfoResponse(node_id="i-1")


def test_a_flagged_call_asks_the_cloud_nothing() -> None:
    driver = two_disks_out_of_band()
    driver.node_info(flagged=True)
    assert driver.cloud_calls() == {}


def test_a_flagged_call_is_answered_while_the_cloud_is_out_of_reach() -> None:
    # There is no such instance in the cloud: the id is local metadata.
    driver = SmallDriver(node="i-elsewhere")
    assert driver.node_info("i-elsewhere", flagged=True).node_id == "i-elsewhere"


def test_a_flagged_call_can_be_answered_in_full() -> None:
    driver = two_disks_out_of_band(NodeInfoReply.FULL)
    assert driver.node_info(flagged=True) == driver.node_info()
    assert driver.node_info(flagged=True).max_volumes_per_node == 8


def test_a_misleading_answer_is_wrong_in_all_but_the_node_id() -> None:
    driver = two_disks_out_of_band(NodeInfoReply.MISLEADING)
    misleading, truth = driver.node_info(flagged=True), driver.controller_info()
    assert misleading.node_id == "i-1"
    assert misleading.max_volumes_per_node == MISLEADING_LIMIT
    assert misleading.max_volumes_per_node != truth.max_volumes_per_node
    assert misleading.accessible_topology == topology(MISLEADING_ZONE)
    assert misleading.accessible_topology != truth.accessible_topology


def test_a_misleading_answer_has_the_same_keys_as_the_truth() -> None:
    driver = two_disks_out_of_band(NodeInfoReply.MISLEADING)
    wrong = driver.node_info(flagged=True).accessible_topology.segments
    assert set(wrong) == set(driver.controller_info().accessible_topology.segments)


@pytest.mark.parametrize("reply", NodeInfoReply)
def test_without_the_flag_the_answer_is_true_however_flagged_ones_are(reply: NodeInfoReply) -> None:
    expected = csi_pb2.NodeGetInfoResponse(
        node_id="i-1", max_volumes_per_node=8, accessible_topology=topology(ZONE)
    )
    assert two_disks_out_of_band(reply).node_info() == expected


@pytest.mark.parametrize("reply", NodeInfoReply)
def test_without_the_capability_the_flag_is_not_known(reply: NodeInfoReply) -> None:
    driver = two_disks_out_of_band(reply, flag_is_known=False)
    assert driver.node_info(flagged=True) == driver.node_info()
    assert driver.node_info(flagged=True).max_volumes_per_node == 8


# ----------------------------------------------------------------------------------------- plain


def test_the_plain_limit_is_not_changed_by_what_the_co_attaches() -> None:
    driver = two_disks_out_of_band()
    seen = {driver.node_info().max_volumes_per_node}
    for volume in driver.publish_new(8):
        seen.add(driver.node_info().max_volumes_per_node)
        of(driver.unpublish(volume))
        seen.add(driver.node_info().max_volumes_per_node)
    assert seen == {8}


def test_the_plain_limit_follows_what_happens_out_of_band() -> None:
    driver = two_disks_out_of_band()
    driver.operator.attach(driver.region.add_disk("vol-another"), "i-1")
    assert driver.node_info().max_volumes_per_node == 7
    driver.operator.detach("vol-another", "i-1")
    driver.operator.detach("vol-manual", "i-1")
    assert driver.node_info().max_volumes_per_node == 9


def test_a_disk_that_the_co_adopts_is_the_co_s_from_then_on() -> None:
    driver = two_disks_out_of_band()
    of(driver.publish("vol-manual"))
    assert driver.node_info().max_volumes_per_node == 9


def test_a_node_full_of_an_operator_s_disks_reports_one_in_the_plain_flow() -> None:
    region = SmallRegion()
    region.add_instance(slots=2)
    for disk in region.add_disks(2):
        region.operator.attach(disk, "i-1")
    assert SmallDriver(region).node_info().max_volumes_per_node == 1


def test_interfaces_lower_the_plain_limit_where_they_share_the_slots() -> None:
    region = SmallRegion()
    region.add_instance(slots=10, shared=True, interfaces=3)
    driver = SmallDriver(region)
    assert driver.node_info().max_volumes_per_node == 7
    driver.operator.add_network_interface("i-1")
    assert driver.node_info().max_volumes_per_node == 6


def test_a_node_without_a_type_sets_no_limit_in_the_plain_flow() -> None:
    driver = SmallDriver(node="i-untyped")
    add_untyped_instance(driver.region, "i-untyped", boot_disk="vol-boot")
    info = driver.node_info("i-untyped")
    assert info.max_volumes_per_node == 0
    assert info.accessible_topology == topology(ZONE)


# ------------------------------------------------------------------------------------- both flows


def test_topology_keys_and_values_are_the_same_in_both_flows() -> None:
    driver = two_disks_out_of_band()
    plain, controller = driver.node_info(), driver.controller_info()
    assert plain.accessible_topology == controller.accessible_topology == topology(ZONE)


def test_a_zone_without_a_name_is_left_out_of_both_flows() -> None:
    region = SmallRegion()
    region.operator.add_instance(Instance(id="i-1", zone=""))
    driver = SmallDriver(region)
    region_only = {"topology.mock.csi.example.com/region": "region-1"}
    assert dict(driver.node_info().accessible_topology.segments) == region_only
    assert dict(driver.controller_info().accessible_topology.segments) == region_only


def test_each_node_service_answers_for_its_own_instance() -> None:
    driver = SmallDriver()
    driver.region.add_instance("i-1", slots=3)
    driver.region.add_instance("i-2", slots=5, zone="zone-b")
    assert driver.node_info("i-1").max_volumes_per_node == 3
    assert driver.node_info("i-2").max_volumes_per_node == 5
    assert driver.node_info("i-2").accessible_topology == topology("zone-b")
    assert driver.node_info("i-2", flagged=True).node_id == "i-2"


def test_ids_are_those_of_the_cloud_byte_for_byte() -> None:
    region = SmallRegion()
    node, disk = "i-Ünïcode/..%2F 01\n", "vol-Größe\t|\u2028"
    region.add_instance(node, slots=3)
    region.operator.add_disk(Disk(id=disk, zone=ZONE))
    driver = SmallDriver(region, node=node)
    of(driver.publish(disk, node))
    assert driver.node_info(node, flagged=True).node_id == node
    assert list(driver.controller_info(node).published_volume_ids) == [disk]


def test_the_driver_tells_topology_without_a_call_as_it_does_in_calls() -> None:
    driver = two_disks_out_of_band()
    expected = dict(driver.controller_info().accessible_topology.segments)
    assert driver.driver.topology_of("i-1") == expected
    assert driver.driver.topology_of_zone(ZONE) == expected
    with pytest.raises(InstanceNotFound):
        driver.driver.topology_of("i-unknown")


# ---------------------------------------------------------------------------------------- failing


def test_a_machine_without_an_identity_says_so() -> None:
    answer = SmallDriver(node=None).call("NodeGetInfo")
    assert answer.code == "FAILED_PRECONDITION"
    assert "no instance for this Node service" in answer.message


def test_a_node_whose_instance_is_gone_is_not_found_in_the_plain_flow() -> None:
    driver = two_disks_out_of_band()
    driver.operator.terminate_instance("i-1")
    assert driver.call("NodeGetInfo").code == "NOT_FOUND"
