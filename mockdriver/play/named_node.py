"""A node that is asked by its name, at a socket of another node's."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from mockdriver.co.csi_client import CsiClient
from mockdriver.server.current_handlers import NODE_KEY


class NamedNode(CsiClient):
    """A connection to a Node service whose calls say which node they mean."""

    def __init__(self, socket: Path, node_id: str) -> None:
        super().__init__(socket)
        self.node: Any = _Stub(self.node, ((NODE_KEY, quote(node_id)),))


class _Stub:
    """A stub whose methods send metadata with each call."""

    def __init__(self, stub: object, metadata: tuple[tuple[str, str], ...]) -> None:
        self._stub = stub
        self._metadata = metadata

    def __getattr__(self, rpc: str) -> _Method:
        return _Method(getattr(self._stub, rpc), self._metadata)


class _Method:
    """One method of it."""

    def __init__(self, method: Any, metadata: tuple[tuple[str, str], ...]) -> None:
        self._method = method
        self._metadata = metadata

    def __call__(self, request: Any, *, timeout: float) -> Any:
        """Make the call and return its response."""
        return self._method(request, timeout=timeout, metadata=self._metadata)

    def future(self, request: Any, *, timeout: float) -> Any:
        """Make the call and go on."""
        return self._method.future(request, timeout=timeout, metadata=self._metadata)
