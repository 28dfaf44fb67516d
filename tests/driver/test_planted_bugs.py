"""Planted bugs: each of them must make a test of the driver fail, or that test tells nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

import grpc
import pytest

from mockdriver.cloud import Caller, CloudApi, InstanceDescription, attaching, slots
from mockdriver.cloud.store import Store
from mockdriver.co.volume_records import VolumeRecords
from mockdriver.driver import access, controller, node, node_info, status
from mockdriver.driver.capabilities import Capabilities
from mockdriver.driver.cloud_client import CloudClient
from mockdriver.driver.context import NodeInfoReply
from mockdriver.driver.errors import PatienceExhausted
from mockdriver.driver.in_flight import InFlight
from mockdriver.driver.topology import TopologyKeys
from mockdriver.journal import log_lines, records, redaction
from tests.driver import (
    test_capacity,
    test_controller_node_info,
    test_identity,
    test_node,
    test_publishing,
    test_races,
    test_secrets,
    test_throttling,
    test_volumes,
    test_waiting,
)
from tests.driver.small_driver import Mode, topology
from tests.driver.test_publish_cycle import PublishCycle
from tests.journal import test_log_lines
from tests.planting import Plant, assert_caught_by, replaced


def nothing(*_: object, **__: object) -> None:
    """Do nothing where something should be done."""


# ------------------------------------------------------------------------------- bugs with a body


def fullness_first(store: Any, now_seconds: float, **call: Any) -> Any:
    """Attach with the check of the slots before all others."""
    attaching._refuse_past_slots(
        store, store.instance(call["instance_id"]), store.disk(call["disk_id"])
    )
    return _attach(store, now_seconds, **call)


_attach = attaching.attach


def check_and_then_attach(
    api: CloudApi, disk: str, instance: str, caller: Caller, **options: Any
) -> Any:
    """Attach in two steps, as a driver does that counts by itself."""

    def slots_are_free(store: Any, now_seconds: float) -> None:
        attaching._refuse_past_slots(store, store.instance(instance), store.disk(disk))

    def attach_unchecked(store: Any, now_seconds: float) -> Any:
        return attaching.attach(
            cast(Store, _Roomy(store)),
            now_seconds,
            disk_id=disk,
            instance_id=instance,
            tags=options["tags"],
        )

    api._core.change(slots_are_free)
    return api._core.change(attach_unchecked)


class _Roomy:
    """A store that says that no slot is in use."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def slot_users(self, instance: object) -> int:
        return 0


def count_all_disks(description: InstanceDescription, type_: Any) -> int:
    """Compute the plain limit with the CO's own disks taken off too."""
    limit = slots.max_volumes_per_node(type_, len(description.network_interfaces))
    return slots.at_least_one(limit - len(description.attachments))


def looking_first(service: Any, request: Any, caller: Caller) -> Any:
    """Answer NodeGetInfo after asking the cloud in any case."""
    service._context.describe_node(service._node_id, caller)
    return _node_get_info(service, request, caller)


_node_get_info = node.NodeService.NodeGetInfo


def with_empty_values(keys: TopologyKeys, zone: str, region: str) -> Any:
    """Return a topology whose keys are there whether or not they have a value."""
    return topology(zone) if zone else _of_zone(keys, " ", region)


_of_zone = TopologyKeys.of_zone


def tell_the_secret(entries: Mapping[str, str]) -> dict[str, str]:
    """Show a secret map as it is."""
    return dict(entries)


def show_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "stripped_map", tell_the_secret)
    _forget_readers(monkeypatch)


def show_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "plain_map", tell_the_secret)
    _forget_readers(monkeypatch)


def _forget_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    # They are made once per message type, and must be made anew for the bug.
    monkeypatch.setattr(redaction, "_readers", redaction._readers.__wrapped__)


def take_throttled_for_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(status.CODES, PatienceExhausted, grpc.StatusCode.RESOURCE_EXHAUSTED)


def forget_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InFlight, "release", nothing)


def remove_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InFlight, "claim", nothing)
    monkeypatch.setattr(InFlight, "release", nothing)


def never_compare(_: object, disk: object, request: object, zones: object) -> None:
    """Take every volume of the same name for what is asked for."""


# ------------------------------------------------------------------------------- the bugs, by name

FIRST_SEED = 0

BUGS: dict[str, tuple[Plant, Callable[[], object]]] = {
    "the clamp at one is removed": (
        replaced(slots, "at_least_one", lambda limit: limit),
        test_controller_node_info.test_a_full_instance_reports_at_least_one,
    ),
    "interfaces use no slots": (
        replaced(slots, "interfaces_using_slots", lambda type_, interfaces: 0),
        test_controller_node_info.test_the_example_of_the_kep_comes_out_to_the_number,
    ),
    "a boot disk is listed whether or not it uses a slot": (
        replaced(
            InstanceDescription,
            "attachments_using_slots",
            lambda description, type_: description.attachments,
        ),
        test_controller_node_info.test_a_boot_disk_outside_the_budget_is_not_listed,
    ),
    "unpublish answers before the volume is gone, so that it is listed again": (
        replaced(CloudClient, "wait_until_detached", nothing),
        test_controller_node_info.test_a_volume_that_is_unpublished_is_never_listed_again,
    ),
    "publish answers before the volume is attached": (
        replaced(CloudClient, "wait_until_attached", nothing),
        test_waiting.test_a_publish_answers_when_the_attach_has_ended,
    ),
    "the plain flow takes off the CO's own disks": (
        replaced(node_info, "plain_flow", count_all_disks),
        test_node.test_the_plain_limit_is_not_changed_by_what_the_co_attaches,
    ),
    "a flagged call asks the cloud": (
        replaced(node.NodeService, "NodeGetInfo", looking_first),
        test_node.test_a_flagged_call_asks_the_cloud_nothing,
    ),
    "the flag is known without its capability": (
        replaced(Capabilities, "__contains__", lambda capabilities, capability: True),
        lambda: test_node.test_without_the_capability_the_flag_is_not_known(NodeInfoReply.OMIT),
    ),
    "a topology key has an empty value": (
        replaced(TopologyKeys, "of_zone", with_empty_values),
        test_node.test_a_zone_without_a_name_is_left_out_of_both_flows,
    ),
    "a full node is refused before a repeat is seen": (
        replaced(attaching, "attach", fullness_first),
        test_publishing.test_a_repeat_on_a_full_node_is_ok,
    ),
    "a full node is refused before an unknown zone": (
        replaced(attaching, "attach", fullness_first),
        lambda: test_publishing.test_a_failed_precondition_comes_before_a_full_node(
            test_publishing._in_another_zone
        ),
    ),
    "slots are counted first and taken later": (
        replaced(CloudApi, "attach", check_and_then_attach),
        lambda: test_races.test_a_hundred_publishes_at_once_onto_27_free_slots(FIRST_SEED),
    ),
    "a disk is shared whatever the access mode": (
        replaced(access, "MULTI_NODE", frozenset(Mode.Mode.values())),
        lambda: test_publishing.test_a_shared_disk_is_refused_where_the_mode_is_for_one_node(
            Mode.SINGLE_NODE_WRITER
        ),
    ),
    "adopting leaves no tags": (
        replaced(attaching, "adopt", lambda store, attachment, tags: attachment),
        test_publishing.test_publishing_what_an_operator_attached_adopts_it,
    ),
    "an unpublish without a node does nothing": (
        replaced(controller.ControllerService, "_nodes_to_leave", lambda *_: []),
        test_publishing.test_an_empty_node_id_means_every_node,
    ),
    "there is no guard of calls in flight": (
        remove_guard,
        lambda: test_waiting.test_while_a_publish_runs_calls_on_its_volume_are_aborted(
            "i-1", FIRST_SEED
        ),
    ),
    "a caller who leaves takes the key along": (
        forget_release,
        lambda: test_waiting.test_a_publish_goes_on_where_a_caller_who_left_began_it(FIRST_SEED),
    ),
    "throttled is taken for a full node": (
        take_throttled_for_full,
        lambda: test_throttling.test_throttled_past_the_patience_is_unavailable(
            "attach", lambda driver: driver.publish("vol")
        ),
    ),
    "sizes are rounded down": (
        replaced(test_capacity, "choose_size_gib", lambda wanted: wanted.required_bytes // 2**30),
        lambda: test_capacity.test_the_size_is_the_smallest_that_will_do(1, 0, 1),
    ),
    "a volume of the same name is taken whatever it is": (
        replaced(controller.ControllerService, "_refuse_other", never_compare),
        test_volumes.test_a_repeat_that_requires_another_zone_is_refused,
    ),
    "an overridden number is not advertised": (
        replaced(Capabilities, "number", lambda capabilities, capability: 1),
        test_identity.test_overridden_numbers_are_advertised,
    ),
    "secrets are shown": (
        show_secrets,
        lambda: test_secrets.test_no_rpc_tells_a_secret_built_or_not("DeleteVolume"),
    ),
    "tokens of service accounts are shown": (
        show_tokens,
        lambda: test_secrets.test_no_answer_of_a_publish_tells_a_secret("OK", {}),
    ),
    "line breaks reach the log": (
        replaced(records, "_UNSAFE", re.compile("(?!)")),
        lambda: test_log_lines.test_a_call_is_one_line_whatever_line_breaks_it_holds(
            log_lines.LogFormat.TEXT
        ),
    ),
    "what is published during a lookup is not recorded": (
        replaced(VolumeRecords, "_record", nothing),
        lambda: test_races.test_a_lookup_never_takes_the_co_s_own_volumes_for_somebody_else_s(
            FIRST_SEED
        ),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, test = BUGS[bug]
    test()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        test()


# ------------------------------------------------------------------------ and the state machine's

MACHINE_BUGS: dict[str, Plant] = {
    "the clamp at one is removed": replaced(slots, "at_least_one", lambda limit: limit),
    "there is no check of the slots": replaced(attaching, "_refuse_past_slots", nothing),
    "there is no check of other nodes": replaced(attaching, "_refuse_elsewhere", nothing),
    "a full node is refused before a repeat is seen": replaced(attaching, "attach", fullness_first),
    "the plain flow takes off the CO's own disks": replaced(
        node_info, "plain_flow", count_all_disks
    ),
    "adopting leaves no tags": replaced(
        attaching, "adopt", lambda store, attachment, tags: attachment
    ),
    "a call in flight is never over": forget_release,
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", MACHINE_BUGS)
def test_a_planted_bug_is_caught_by_the_state_machine(
    bug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    MACHINE_BUGS[bug](monkeypatch)
    assert_caught_by(PublishCycle)
