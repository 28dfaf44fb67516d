"""What a driver was asked, and what it answered, as its log tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from e2e.objects.kinds import Json


@dataclass(frozen=True)
class Call:
    """One call that has ended. `node_id` is set where it came to a node's socket, or names one."""

    rpc: str
    code: str
    node_id: str | None = None
    request: Json = field(default_factory=dict)
    response: Json = field(default_factory=dict)

    @property
    def volume_id(self) -> str | None:
        """The volume that it is about."""
        volume: str | None = self.request.get("volume_id") or self.response.get("volume", {}).get(
            "volume_id"
        )
        return volume


@dataclass(frozen=True)
class Calls:
    """All calls of a driver since it was first started, oldest first; read anew each time."""

    log: Path

    def all(self) -> list[Call]:
        """Return them all."""
        return list(self._read())

    def of(
        self, rpc: str | None = None, *, volume_id: str | None = None, code: str | None = None
    ) -> list[Call]:
        """Return those of an RPC, about a volume, answered with a code."""
        return [
            call
            for call in self._read()
            if rpc in (None, call.rpc)
            and volume_id in (None, call.volume_id)
            and code in (None, call.code)
        ]

    def first_of_each(self, volume_id: str) -> list[str]:
        """Return the RPCs that were OK for a volume in the order in which each was OK first.

        Sidecars and kubelet may repeat any of them.
        """
        return list(dict.fromkeys(call.rpc for call in self.of(volume_id=volume_id, code="OK")))

    def _read(self) -> Iterator[Call]:
        with self.log.open(encoding="utf-8") as lines:
            for line in lines:
                # The last line may be half written.
                if not (line.startswith('{"') and line.endswith("}\n")):
                    continue
                entry = json.loads(line)
                if "rpc" in entry:
                    yield Call(
                        rpc=entry["rpc"],
                        code=entry["code"],
                        node_id=entry.get("node_id"),
                        request=entry.get("request", {}),
                        response=entry.get("response", {}),
                    )
