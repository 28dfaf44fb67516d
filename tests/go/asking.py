"""Asking a server by grpcurl: a program that nobody here wrote, without any proto file."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

MOUNT = {"mount": {}, "access_mode": {"mode": "SINGLE_NODE_WRITER"}}
BLOCK = {"block": {}, "access_mode": {"mode": "SINGLE_NODE_WRITER"}}

_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Failure:
    """What grpcurl shows of a call that failed: the number of its code, and the message."""

    code: int
    message: str


@dataclass(frozen=True)
class Asker:
    """grpcurl, pointed at the socket of one server."""

    grpcurl: Path
    socket: Path

    def run(self, *arguments: str, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run grpcurl with flags before the address, and arguments after it."""
        socket = quote(str(self.socket))  # grpcurl takes the path for a part of a URL
        command = [str(self.grpcurl), "-plaintext", "-unix", *flags, socket, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS
        )

    def shown(self, *arguments: str) -> str:
        """Run `list` or `describe`; return what it prints."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, rpc: str, request: object) -> dict[str, Any]:
        """Make a call that succeeds; `rpc` is Service/Name."""
        done = self.run(f"csi.v1.{rpc}", flags=("-d", json.dumps(request)))
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def fail(self, rpc: str, request: object) -> Failure:
        """Make a call that fails."""
        done = self.run(f"csi.v1.{rpc}", flags=("-format-error", "-d", json.dumps(request)))
        assert done.returncode != 0, done.stdout
        error = json.loads(done.stderr)
        return Failure(error["code"], error["message"])

    def create(self, name: str) -> str:
        """Make a volume; return its id."""
        request = {"name": name, "volume_capabilities": [MOUNT]}
        answer = self.ask("Controller/CreateVolume", request)
        return str(answer["volume"]["volume_id"])


def publish(volume_id: str, node_id: str, **fields: object) -> dict[str, object]:
    """Return a request to publish a volume on a node, as a mount unless `fields` say otherwise."""
    return {"volume_id": volume_id, "node_id": node_id, "volume_capability": MOUNT, **fields}
