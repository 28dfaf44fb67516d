"""Whatever an operator does, by force too, the cloud's books are in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from mockdriver.cloud import attaching
from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.resources import Attachment, Disk
from mockdriver.cloud.shared_values import SharedValues
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import Pending
from mockdriver.cloud.users import Users
from tests.cloud.operator_machine import OperatorMachine

pytestmark = pytest.mark.slow

TestTheOperatorsCloud = OperatorMachine.TestCase
TestTheOperatorsCloud.settings = settings(
    derandomize=True, deadline=None, max_examples=200, stateful_step_count=40
)

SEEDS = range(5)
"""A bug that one seed does not find has four more chances."""

QUICKLY = settings(
    deadline=None,
    max_examples=300,
    stateful_step_count=40,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
)

Plant = Callable[[pytest.MonkeyPatch], None]


def a_snapshot_shares_what_is_changed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SharedValues, "own", lambda self, key: self._items[key])


def a_disk_that_moves_stays_in_the_books_of_its_zone(patch: pytest.MonkeyPatch) -> None:
    def replace_disk(self: Store, disk: Disk) -> None:
        self.disks[disk.id] = disk

    patch.setattr(Store, "replace_disk", replace_disk)


def who_goes_is_counted_on(patch: pytest.MonkeyPatch) -> None:
    def count(self: Users, name: str, by: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + max(0, by)

    patch.setattr(Users, "count", count)


def a_restore_forgets_to_move_what_is_under_way(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Pending, "later", lambda self, seconds: self)


def force_cannot_detach_a_boot_disk(patch: pytest.MonkeyPatch) -> None:
    right = CloudCore.detach

    def detach(self: CloudCore, disk: str, instance: str, now: float, **how: bool) -> object:
        return right(self, disk, instance, now, **{**how, "force": False})

    patch.setattr(CloudCore, "detach", detach)


def one_that_makes_way_is_counted_on(patch: pytest.MonkeyPatch) -> None:
    def remove_attachment(self: Store, attachment: Attachment) -> None:
        occupancy = self._occupancies.own(attachment.instance)
        del occupancy.attachments[attachment.disk]
        occupancy.pending.discard(attachment.disk)
        del self._instances_of.own(attachment.disk)[attachment.instance]

    patch.setattr(Store, "remove_attachment", remove_attachment)


def a_refused_attach_leaves_the_disk_that_it_made(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Store, "remove_disk", lambda self, disk: None)


def a_number_is_given_again_after_a_restore(patch: pytest.MonkeyPatch) -> None:
    right = Store.put_back

    def put_back(self: Store, state: object) -> None:
        right(self, state)  # type: ignore[arg-type]
        self._last = state.last  # type: ignore[attr-defined]

    patch.setattr(Store, "put_back", put_back)


def slots_are_looked_at_in_spite_of_force(patch: pytest.MonkeyPatch) -> None:
    right = attaching.attach

    def attach(*arguments: object, force: bool = False, **how: object) -> Attachment:
        return right(*arguments, **how)  # type: ignore[arg-type]

    patch.setattr(attaching, "attach", attach)


@pytest.mark.parametrize(
    "plant",
    [
        a_snapshot_shares_what_is_changed,
        a_disk_that_moves_stays_in_the_books_of_its_zone,
        who_goes_is_counted_on,
        a_restore_forgets_to_move_what_is_under_way,
        force_cannot_detach_a_boot_disk,
        one_that_makes_way_is_counted_on,
        a_refused_attach_leaves_the_disk_that_it_made,
        a_number_is_given_again_after_a_restore,
        slots_are_looked_at_in_spite_of_force,
    ],
)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)

    def look() -> None:
        for number in SEEDS:
            machine = seed(number)(type("SeededMachine", (OperatorMachine,), {}))
            run_state_machine_as_test(machine, settings=QUICKLY)

    with pytest.raises(BaseException):  # noqa: B017, PT011 - any failure of the machine's
        look()
