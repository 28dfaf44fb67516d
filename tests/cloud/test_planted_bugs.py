"""Bugs planted on purpose: the tests of the cloud have to find each of them.

A rule is worth as much as the test that fails without it. Here the test is run with the rule
broken, and its failure is what is asserted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from mockdriver.cloud import (
    Attachment,
    AttachmentState,
    Caller,
    Disk,
    Instance,
    InstanceDescription,
    InstanceType,
    Quota,
    attaching,
    slots,
)
from mockdriver.cloud.console import instances as console_instances
from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.errors import CloudError, SlotsExhausted
from mockdriver.cloud.operator import Operator
from mockdriver.cloud.resources import NO_TAGS
from mockdriver.cloud.store import Store
from mockdriver.cloud.token_bucket import TokenBucket
from mockdriver.cloud.transitions import Pending
from mockdriver.runtime import Deadlock
from tests.cloud import test_attachments as attachments
from tests.cloud import test_instances as instances
from tests.cloud import test_order_of_refusals as refusals
from tests.cloud import test_quotas as quotas
from tests.cloud import test_races as races
from tests.cloud import test_slot_rules as slot_rules
from tests.cloud import test_transitions as transitions
from tests.cloud import test_waiting as waiting
from tests.cloud.machine import CloudMachine

Plant = Callable[[pytest.MonkeyPatch], None]

# Failures are neither made smaller nor printed: that one is found is enough.
QUICKLY = settings(
    derandomize=True,
    deadline=None,
    max_examples=150,
    stateful_step_count=25,
    phases=(Phase.generate,),
    verbosity=Verbosity.quiet,
)


# ------------------------------------------------------------------------------ for the machine


def one_slot_too_many_is_given(patch: pytest.MonkeyPatch) -> None:
    def refuse_past_slots(store: Store, instance: Instance, disk: Disk) -> None:
        type_, users = store.type_of(instance), store.slot_users(instance)
        if type_.slots is not None and users > type_.slots:
            raise SlotsExhausted(instance.id, type_.slots, users)

    patch.setattr(attaching, "_refuse_past_slots", refuse_past_slots)


def one_slot_is_never_given(patch: pytest.MonkeyPatch) -> None:
    def refuse_past_slots(store: Store, instance: Instance, disk: Disk) -> None:
        type_, users = store.type_of(instance), store.slot_users(instance)
        if type_.slots is not None and users >= type_.slots - 1:
            raise SlotsExhausted(instance.id, type_.slots, users)

    patch.setattr(attaching, "_refuse_past_slots", refuse_past_slots)


def a_full_instance_reports_zero(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(slots, "at_least_one", lambda limit: max(0, limit))


def the_report_leaves_interfaces_out(patch: pytest.MonkeyPatch) -> None:
    def max_volumes_per_node(type_: InstanceType, network_interfaces: int) -> int:
        return 0 if type_.slots is None else slots.at_least_one(type_.slots)

    patch.setattr(slots, "max_volumes_per_node", max_volumes_per_node)


def the_report_counts_interfaces_that_share_nothing(patch: pytest.MonkeyPatch) -> None:
    def max_volumes_per_node(type_: InstanceType, network_interfaces: int) -> int:
        if type_.slots is None:
            return 0
        return slots.at_least_one(type_.slots - network_interfaces)

    patch.setattr(slots, "max_volumes_per_node", max_volumes_per_node)


def a_boot_disk_outside_the_budget_is_listed(patch: pytest.MonkeyPatch) -> None:
    def attachments_using_slots(
        self: InstanceDescription, type_: InstanceType
    ) -> tuple[Attachment, ...]:
        return self.attachments

    patch.setattr(InstanceDescription, "attachments_using_slots", attachments_using_slots)


def a_boot_disk_outside_the_budget_uses_a_slot(patch: pytest.MonkeyPatch) -> None:
    def disks_using_slots(type_: InstanceType, *, disks: int, boot_disks: int) -> int:
        return disks

    patch.setattr(slots, "disks_using_slots", disks_using_slots)


def a_disk_that_is_detaching_uses_no_slot(patch: pytest.MonkeyPatch) -> None:
    right = Store.slot_users

    def slot_users(self: Store, instance: Instance) -> int:
        leaving = [
            item
            for item in self.occupancy(instance.id).attachments.values()
            if item.state is AttachmentState.DETACHING
        ]
        return right(self, instance) - len(leaving)

    patch.setattr(Store, "slot_users", slot_users)


def a_disk_that_is_attaching_uses_no_slot(patch: pytest.MonkeyPatch) -> None:
    right = Store.slot_users

    def slot_users(self: Store, instance: Instance) -> int:
        return right(self, instance) - len(self.occupancy(instance.id).pending)

    patch.setattr(Store, "slot_users", slot_users)


def a_detached_disk_comes_back(patch: pytest.MonkeyPatch) -> None:
    def finish(store: Store, attachment: Attachment) -> Attachment:
        attached = replace(attachment, state=AttachmentState.ATTACHED, pending=None)
        store.put_attachment(attached)
        return attached

    patch.setattr(attaching, "finish", finish)


def a_release_ends_one_transition_only(patch: pytest.MonkeyPatch) -> None:
    right = attaching.finish
    finished: list[int] = []

    def finish(store: Store, attachment: Attachment) -> Attachment | None:
        finished.append(attachment.number)
        return right(store, attachment) if len(finished) % 2 else attachment

    patch.setattr(attaching, "finish", finish)


def an_interface_is_refused_on_a_full_instance(patch: pytest.MonkeyPatch) -> None:
    right = Operator.add_network_interface

    def add_network_interface(self: Operator, instance: str, id: str | None = None) -> object:
        store = self._core.store
        type_ = store.type_of(store.instance(instance))
        if type_.slots is not None and self.slot_users(instance) >= type_.slots:
            raise SlotsExhausted(instance, type_.slots, self.slot_users(instance))
        return right(self, instance, id)

    patch.setattr(Operator, "add_network_interface", add_network_interface)


FOR_THE_MACHINE: list[Plant] = [
    one_slot_too_many_is_given,
    one_slot_is_never_given,
    a_full_instance_reports_zero,
    the_report_leaves_interfaces_out,
    the_report_counts_interfaces_that_share_nothing,
    a_boot_disk_outside_the_budget_is_listed,
    a_boot_disk_outside_the_budget_uses_a_slot,
    a_disk_that_is_detaching_uses_no_slot,
    a_disk_that_is_attaching_uses_no_slot,
    a_detached_disk_comes_back,
    a_release_ends_one_transition_only,
    an_interface_is_refused_on_a_full_instance,
]


@pytest.mark.slow
@pytest.mark.parametrize("plant", FOR_THE_MACHINE, ids=lambda plant: plant.__name__)
def test_the_state_machine_finds(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises((AssertionError, CloudError, pytest.fail.Exception)):
        run_state_machine_as_test(CloudMachine, settings=QUICKLY)


# --------------------------------------------------------------------------------- for one rule


def an_attach_does_not_end_what_is_due(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attaching, "settle_instance", lambda store, instance_id, now_seconds: None)


def a_number_is_given_again(patch: pytest.MonkeyPatch) -> None:
    def next_number(self: Store) -> int:
        return 1 + self.attachment_count

    patch.setattr(Store, "next_number", next_number)


def slots_are_looked_at_first(patch: pytest.MonkeyPatch) -> None:
    right = attaching._refuse_elsewhere

    def refuse_elsewhere(store: Store, disk: Disk, instance: Instance, exclusive: bool) -> None:
        attaching._refuse_past_slots(store, instance, disk)
        right(store, disk, instance, exclusive)

    patch.setattr(attaching, "_refuse_elsewhere", refuse_elsewhere)


def the_last_read_shows_the_end_already(patch: pytest.MonkeyPatch) -> None:
    def is_over(self: Pending, now_seconds: float) -> bool:
        return self.reads_left is not None and self.reads_left <= 1

    patch.setattr(Pending, "is_over", is_over)


def one_read_too_many_is_needed(patch: pytest.MonkeyPatch) -> None:
    def is_over(self: Pending, now_seconds: float) -> bool:
        return self.reads_left is not None and self.reads_left < 0

    patch.setattr(Pending, "is_over", is_over)


def a_look_of_the_operator_is_a_read(patch: pytest.MonkeyPatch) -> None:
    right = Operator.attachments

    def attachments(self: Operator, instance: str) -> list[Attachment]:
        return [attaching.read(self._core.store, item) for item in right(self, instance)]

    patch.setattr(Operator, "attachments", attachments)


def tagged_attachments_are_adopted_too(patch: pytest.MonkeyPatch) -> None:
    right = Store.attachment

    def attachment(self: Store, disk: str, instance: str) -> Attachment | None:
        present = right(self, disk, instance)
        return None if present is None else replace(present, tags=NO_TAGS)

    patch.setattr(Store, "attachment", attachment)


def the_bucket_overflows(patch: pytest.MonkeyPatch) -> None:
    def take(self: TokenBucket, now_seconds: float) -> bool:
        self._tokens += (now_seconds - self._filled_at) * self._per_second - 1
        self._filled_at = now_seconds
        return self._tokens >= 0

    patch.setattr(TokenBucket, "take", take)


def nobody_is_woken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CloudCore, "wake_watchers", lambda self, attachment: None)


def the_last_read_wakes_nobody(patch: pytest.MonkeyPatch) -> None:
    def read(self: CloudCore, attachment: Attachment) -> Attachment:
        return attaching.read(self.store, attachment)

    patch.setattr(CloudCore, "read", read)


def the_look_comes_before_the_preparation(patch: pytest.MonkeyPatch) -> None:
    """A change between the two is then forgotten by the preparation."""

    def wait_until_settled(
        self: Operator, attachment: Attachment, caller: Caller
    ) -> Attachment | None:
        self._core.watch(attachment, caller)
        caller.prepare()
        present = self._core.look(attachment)
        while present is not None and present.pending is not None:
            caller.prepare()
            caller.wait(present.pending.due_seconds)
            present = self._core.look(attachment)
        self._core.unwatch(attachment, caller)
        return present

    patch.setattr(Operator, "wait_until_settled", wait_until_settled)


def the_lock_keeps_nobody_out(patch: pytest.MonkeyPatch) -> None:
    right = CloudCore.change

    def change(self: CloudCore, work: Callable[[Store, float], object]) -> object:
        self.lock = nullcontext()
        return right(self, work)

    patch.setattr(CloudCore, "change", change)


def a_failed_instance_leaves_its_boot_disk_behind(patch: pytest.MonkeyPatch) -> None:
    def removal(store: Store, id: str) -> Callable[[], None]:
        return lambda: None

    patch.setattr(console_instances, "_removal", removal)


FOR_ONE_RULE: list[tuple[Plant, Callable[[], None]]] = [
    (
        a_disk_that_is_detaching_uses_no_slot,
        slot_rules.test_a_disk_that_is_detaching_uses_its_slot_and_is_listed,
    ),
    (
        an_attach_does_not_end_what_is_due,
        slot_rules.test_a_slot_is_free_once_a_timed_detach_has_ended_though_nobody_looked,
    ),
    (
        a_number_is_given_again,
        partial(
            attachments.test_the_number_of_a_detached_attachment_is_never_given_again,
            attachments.two_instances(),
        ),
    ),
    (
        tagged_attachments_are_adopted_too,
        partial(
            attachments.test_an_attach_by_the_api_leaves_the_tags_of_a_tagged_attachment_alone,
            attachments.two_instances(),
        ),
    ),
    (
        slots_are_looked_at_first,
        refusals.test_all_reasons_that_can_apply_at_once_are_answered_in_order,
    ),
    (
        a_failed_instance_leaves_its_boot_disk_behind,
        partial(
            instances.test_an_instance_is_added_whole_or_not_at_all,
            instances.add_an_instance_without_a_slot_for_its_boot_disk,
            SlotsExhausted,
        ),
    ),
    (
        the_last_read_shows_the_end_already,
        partial(
            transitions.test_each_of_n_reads_shows_a_detach_under_way_and_the_next_shows_it_gone,
            transitions.seen_by_disk,
            3,
        ),
    ),
    (
        one_read_too_many_is_needed,
        partial(
            transitions.test_each_of_n_reads_shows_an_attach_under_way_and_the_next_shows_it_done,
            transitions.seen_by_instance,
            3,
        ),
    ),
    (a_look_of_the_operator_is_a_read, transitions.test_looks_of_the_operator_are_no_reads),
    (the_bucket_overflows, quotas.test_tokens_never_exceed_the_burst),
    (nobody_is_woken, partial(waiting.test_a_release_ends_every_wait_for_a_held_attach, 1)),
    (the_last_read_wakes_nobody, partial(waiting.test_the_last_read_ends_every_wait, 3)),
    (
        the_look_comes_before_the_preparation,
        partial(waiting.test_a_release_ends_every_wait_for_a_held_attach, 1),
    ),
    (
        the_lock_keeps_nobody_out,
        partial(races.test_of_twelve_attaches_as_many_succeed_as_there_are_free_slots, 4, Quota()),
    ),
]


@pytest.mark.parametrize(
    ("plant", "rule"), FOR_ONE_RULE, ids=[plant.__name__ for plant, _ in FOR_ONE_RULE]
)
def test_the_test_of_the_rule_finds(
    plant: Plant, rule: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    rule()
    plant(monkeypatch)
    with pytest.raises((AssertionError, CloudError, Deadlock, pytest.fail.Exception)):
        rule()
