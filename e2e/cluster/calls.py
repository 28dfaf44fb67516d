"""What a driver was asked, and what it answered, as its log tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from e2e.cluster.waiting import wait_until
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

    def wait_for(
        self, rpc: str, *, volume_id: str | None = None, code: str = "OK", more_than: int = 0
    ) -> list[Call]:
        """Return the calls as `of` does, as soon as there are more than `more_than`.

        The log is written a moment after a call has ended, so what must have been called is waited
        for.
        """

        def look() -> list[Call] | None:
            calls = self.of(rpc, volume_id=volume_id, code=code)
            return calls if len(calls) > more_than else None

        return wait_until(look, f"{rpc} with {code}, more than {more_than} times")

    def order(self, volume_id: str, *, until: str) -> list[str]:
        """Return the RPCs that were OK for a volume, each once, as soon as `until` is among them.

        Sidecars and kubelet may repeat any of them; what counts is when each was OK first.
        """

        def look() -> list[str] | None:
            rpcs = [call.rpc for call in self.of(volume_id=volume_id, code="OK")]
            return list(dict.fromkeys(rpcs)) if until in rpcs else None

        return wait_until(look, f"{until} of {volume_id} is OK")

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
