"""Bugs planted in what a file says of a cloud: the machine that compares has to find each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from mockdriver.scenario import attachment_data, cloud_data, disk_data
from mockdriver.scenario.attachment_data import AttachmentData
from tests.scenario.test_cloud_data import ExportMachine

pytestmark = pytest.mark.slow

QUICKLY = settings(
    deadline=None,
    max_examples=60,
    stateful_step_count=25,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
)

Plant = Callable[[pytest.MonkeyPatch], None]


def the_order_of_disks_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(disk_data, "_last_in_order", lambda ids, ordinary, named: set(ordinary))


def what_is_refused_is_not_forced(patch: pytest.MonkeyPatch) -> None:
    right = AttachmentData._data

    def without_force(self: AttachmentData, item: Any, force: bool) -> dict[str, Any]:
        return right(self, item, False)

    patch.setattr(AttachmentData, "_data", without_force)


def what_is_waited_for_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = AttachmentData._data

    def held(self: AttachmentData, item: Any, force: bool) -> dict[str, Any]:
        data = right(self, item, force)
        data.pop("waits_for", None)
        return data

    patch.setattr(AttachmentData, "_data", held)


def all_tags_are_the_drivers(patch: pytest.MonkeyPatch) -> None:
    def kind(self: AttachmentData, item: Any, boot: bool) -> int:
        return attachment_data._BOOT_DISK if boot else attachment_data._PUBLISHED

    patch.setattr(AttachmentData, "_kind", kind)


def zones_are_never_said(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cloud_data, "_zones", lambda snapshot, notes: {})


@pytest.mark.parametrize(
    "plant",
    [
        the_order_of_disks_is_ignored,
        what_is_refused_is_not_forced,
        what_is_waited_for_is_forgotten,
        all_tags_are_the_drivers,
        zones_are_never_said,
    ],
)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)

    def look() -> None:
        for number in range(4):
            machine = seed(number)(type("SeededMachine", (ExportMachine,), {}))
            run_state_machine_as_test(machine, settings=QUICKLY)

    with pytest.raises(BaseException):  # noqa: B017, PT011 - any failure of the machine's
        look()
