"""The guard that lets one call at a time change an object; a second one is answered ABORTED."""

from __future__ import annotations

from dataclasses import dataclass

from mockdriver.cloud.errors import quoted
from mockdriver.driver.errors import OperationPending
from mockdriver.runtime import Runtime


@dataclass(frozen=True, slots=True)
class InFlightKey:
    """What a call holds while it runs: a part of one object, or all of it if `part` is None.

    Two parts of one object get along; the whole gets along with none of its parts.
    """

    kind: str
    id: str
    part: str | None = None


class InFlight:
    """The keys that calls hold now."""

    def __init__(self, runtime: Runtime) -> None:
        self._lock = runtime.lock()
        self._held: dict[tuple[str, str], set[str | None]] = {}

    def claim(self, key: InFlightKey) -> None:
        """Take the key; raises OperationPending if a call in flight is in the way."""
        with self._lock:
            parts = self._held.get((key.kind, key.id))
            if parts is None:
                self._held[key.kind, key.id] = {key.part}
                return
            if key.part is None or key.part in parts or None in parts:
                raise OperationPending(
                    f"another call on the {key.kind} {quoted(key.id)} is in flight"
                )
            parts.add(key.part)

    def release(self, key: InFlightKey) -> None:
        """Give the key back."""
        with self._lock:
            parts = self._held[key.kind, key.id]
            parts.remove(key.part)
            if not parts:
                del self._held[key.kind, key.id]
