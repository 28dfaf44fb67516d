"""Clock, waiting, locks, threads and randomness: the only package that touches them.

Everything below the composition root receives a `Runtime`. There are three:

* `WallRuntime`: the wall clock and free threads; what ``mockdriver serve`` uses.
* `VirtualRuntime`: free threads, a clock that jumps when all of them wait; what stories use.
* `SeededRuntime`: one thread at a time in an order that a seed chooses; what race tests use.
"""

from mockdriver.runtime.contract import Event, Lock, Runtime, Thread
from mockdriver.runtime.seeded import Deadlock, SeededRuntime
from mockdriver.runtime.virtual import VirtualRuntime
from mockdriver.runtime.wall import WallRuntime

__all__ = [
    "Deadlock",
    "Event",
    "Lock",
    "Runtime",
    "SeededRuntime",
    "Thread",
    "VirtualRuntime",
    "WallRuntime",
]
