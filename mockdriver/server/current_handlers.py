"""Handlers that a socket keeps while the driver behind them changes."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from mockdriver.driver.calls import Handler
from mockdriver.driver.driver import Driver, Role

Handlers = dict[str, dict[str, Handler]]
"""By the name of a service and of an RPC."""

NODE_KEY = "mockdriver-node"
"""Metadata of a call of the Node service: the instance whose node is asked, in the place of the
socket's. What is no ASCII, and `%`, is written as in URLs."""


class CurrentHandlers:
    """The services of a role, and of a node, by whatever driver serves now."""

    def __init__(self, driver: Driver, node_id: str | None, role: Role) -> None:
        self._driver = driver
        self._role = role
        self._current = {
            service: dict(rpcs) for service, rpcs in driver.handlers(node_id, role).items()
        }
        self.handlers: Handlers = {
            service: {rpc: self._forwarding(service, rpc) for rpc in rpcs}
            for service, rpcs in self._current.items()
        }
        """They stay the same, whichever driver answers."""

    @property
    def has_node(self) -> bool:
        """Tell whether a Node service is among them."""
        return self._role is not Role.CONTROLLER

    def switch(self, driver: Driver, node_id: str | None) -> None:
        """Let another driver answer from the next call on, for this node."""
        self._driver = driver
        for service, rpcs in driver.handlers(node_id, self._role).items():
            self._current[service].update(rpcs)

    def _forwarding(self, service: str, rpc: str) -> Handler:
        rpcs = self._current[service]

        def handle(body: bytes, context: Any) -> bytes:
            return rpcs[rpc](body, context)

        def handle_for_any_node(body: bytes, context: Any) -> bytes:
            for key, value in context.invocation_metadata() or ():
                if key == NODE_KEY:
                    handlers = self._driver.node_handlers(unquote(value))
                    return handlers[rpc](body, context)
            return rpcs[rpc](body, context)

        return handle_for_any_node if service == "Node" else handle
