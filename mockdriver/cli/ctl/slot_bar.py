"""An instance's slots as a bar, each slot with who uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mockdriver.control.v1.cloud_pb2 import Instance

_WIDEST = 60
_FREE = "."


@dataclass(frozen=True)
class SlotUsers:
    """So many slots that one kind of user takes."""

    letter: str
    colour: str
    words: str
    count: int


def slot_users(instance: Instance) -> list[SlotUsers]:
    """Return who uses the instance's slots, kind by kind."""
    using = [item for item in instance.attachments if item.uses_slot]
    boot = sum(item.boot for item in using)
    by_hand = sum(item.out_of_band and not item.boot for item in using)
    return [
        SlotUsers("B", "blue", "boot disk", boot),
        SlotUsers("I", "cyan", "network interfaces", instance.slot_users - len(using)),
        SlotUsers("C", "green", "CSI volumes", len(using) - boot - by_hand),
        SlotUsers("O", "yellow", "out of band", by_hand),
    ]


def bar(instance: Instance) -> str:
    """Return the bar: `[BICCO.....]`, and behind it what has no slot left; empty without slots."""
    if not instance.HasField("slots"):
        return ""
    slots, users = instance.slots, slot_users(instance)
    step = max(1, -(-slots // _WIDEST))
    cells = list(_cells(users, step))
    inside = -(-slots // step)
    free = _FREE * max(0, inside - len(cells))
    return f"[{''.join(cells[:inside])}{free}]{''.join(cells[inside:])}"


def legend(instance: Instance) -> str:
    """Return what the letters of the bar mean, with the number of each."""
    words = [f"{item.letter} {item.words} {item.count}" for item in slot_users(instance)]
    if instance.HasField("slots"):
        words.append(f"{_FREE} free {max(0, instance.slots - instance.slot_users)}")
        step = max(1, -(-instance.slots // _WIDEST))
        if step > 1:
            words.append(f"each letter is up to {step} slots")
    return ", ".join(words)


def usage(instance: Instance) -> str:
    """Return how many slots are used, of how many."""
    if not instance.HasField("slots"):
        return f"{instance.slot_users}/no limit"
    return f"{instance.slot_users}/{instance.slots}"


def _cells(users: Sequence[SlotUsers], step: int) -> Iterator[str]:
    for item in users:
        for _ in range(-(-item.count // step)):
            yield click.style(item.letter, fg=item.colour)
