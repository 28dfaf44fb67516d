"""Where a running mock listens."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Endpoints:
    """The sockets, as endpoints (`unix:///path`); empty where there is none.

    `node_id` is the node of the Node service at the endpoint, `nodes` are the endpoints of others.
    """

    endpoint: str = ""
    node_id: str | None = None
    nodes: dict[str, str] = field(default_factory=dict)
    control: str = ""
