"""Messages of refusals: they name what was given, quoted, and no input can flood the reader."""

from __future__ import annotations

import inspect

import pytest

from mockdriver.cloud import Attachment, AttachmentState, errors
from mockdriver.cloud.errors import CloudError, quoted

LONG = "x" * 5_000

ATTACHMENT = Attachment(number=7, disk=LONG, instance=LONG, state=AttachmentState.DETACHING)

SAMPLES: list[CloudError] = [
    errors.InstanceNotFound([LONG] * 100),
    errors.DiskNotFound([LONG] * 100),
    errors.InstanceTypeNotFound(LONG),
    errors.NetworkInterfaceNotFound(LONG, 3, 2),
    errors.ZoneNotFound(LONG, ["zone-a", "zone-b"]),
    errors.AlreadyExists("disk", LONG),
    errors.NotAttached(LONG, LONG),
    errors.AlreadyAttached(ATTACHMENT),
    errors.TransitionUnderWay(ATTACHMENT),
    errors.AttachedElsewhere(LONG, [LONG] * 100),
    errors.TooManyAttachments(LONG, 1, [LONG] * 100),
    errors.ZoneMismatch(LONG, LONG, LONG, LONG),
    errors.SlotsExhausted(LONG, 25, 26),
    errors.BootDiskInUse(LONG),
    errors.DiskInUse(LONG, [LONG] * 100),
    errors.ZoneInUse(LONG, 3),
    errors.InstanceTypeInUse(LONG, 3),
    errors.DiskSizeNotAllowed(0, 1, 65_536),
    errors.ZoneFull(LONG, 11, 10),
    errors.Throttled("attach"),
    errors.TooManyIds("describe_instances", 1_001, 1_000),
    errors.CallerGone("the caller has left"),
]


def test_there_is_a_sample_of_every_refusal() -> None:
    refusals = {
        member
        for _, member in inspect.getmembers(errors, inspect.isclass)
        if issubclass(member, CloudError) and member is not CloudError
    }
    assert {type(sample) for sample in SAMPLES} == refusals


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_message_is_one_short_line(sample: CloudError) -> None:
    assert 0 < len(str(sample)) < 1_000
    assert "\n" not in str(sample)


def test_a_value_is_quoted_so_that_spaces_and_control_characters_show() -> None:
    assert quoted(" vol\n") == r"' vol\n'"
    assert quoted("") == "''"


def test_a_long_value_is_cut_and_its_length_is_told() -> None:
    shown = quoted(LONG)
    assert shown.startswith("'xxx")
    assert "5000 characters" in shown
    assert len(shown) < 150


def test_a_value_of_a_hundred_characters_is_shown_whole() -> None:
    assert quoted("y" * 100) == f"'{'y' * 100}'"


def test_a_message_tells_slots_and_slot_users() -> None:
    assert str(errors.SlotsExhausted("i-1", 25, 26)) == (
        "instance 'i-1' has 25 slots and 26 slot users"
    )


def test_a_message_names_the_known_zones() -> None:
    assert str(errors.ZoneNotFound("zone-x", ["zone-a", "zone-b"])) == (
        "no zone 'zone-x', there are: zone-a, zone-b"
    )
