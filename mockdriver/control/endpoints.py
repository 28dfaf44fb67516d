"""Where a running mock listens."""

from __future__ import annotations


class Endpoints:
    """The sockets, as endpoints (`unix:///path`); empty where there is none.

    `node_id` is the node of the Node service at the endpoint, `nodes` are the endpoints of others.
    """

    def __init__(self) -> None:
        self.endpoint = ""
        self.node_id: str | None = None
        self.nodes: dict[str, str] = {}
        self.control = ""
