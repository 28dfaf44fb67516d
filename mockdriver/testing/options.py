"""How the process is started, beyond its scenario."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict, cast

START_TIMEOUT_SECONDS = 60.0
GRACE_SECONDS = 1.0

NODE_SOCKETS = "nodes"
CONTROL_SOCKET = "control.sock"
"""Names in the folder of the process."""


class ServeOptions(TypedDict, total=False):
    """Options of `mockdriver serve`, as arguments."""

    capabilities: Mapping[str, bool]
    """Capabilities to switch on or off: `{"GET_NODE_INFO": False, "node.GET_VOLUME_STATS": True}`.
    """
    driver_name: str
    """The CSI plugin name; without it, the scenario's."""
    node: str
    """The instance that the Node service runs on; without it, the scenario's first."""
    nodes: str | Sequence[str]
    """Other nodes to serve at sockets of their own: ids, or patterns such as "*"."""
    node_info_reply: Literal["omit", "full", "misleading"]
    """What NodeGetInfo answers to `controller_get_node_info`."""
    node_mounts: Literal["directory", "none"]
    """What NodePublishVolume does to files."""
    own_control_socket: bool
    """Serve the control API at a socket of its own, so that the endpoint has CSI alone."""
    seed: int
    """Fixes all that is random."""
    grace_seconds: float
    """How long calls in flight may take when it is stopped; 1 without it."""
    serve_options: Sequence[str]
    """Any other options of `mockdriver serve`, as on its command line."""
    start_timeout_seconds: float
    """How long it may take to be ready; 60 without it."""


def known_options(options: Mapping[str, object]) -> ServeOptions:
    """Return the options; raises TypeError that tells the known ones if there are others."""
    known = ServeOptions.__annotations__
    if unknown := sorted(options.keys() - known.keys()):
        raise TypeError(f"no option {', '.join(unknown)}; there are: scenario, {', '.join(known)}")
    return cast(ServeOptions, options)


def arguments(options: ServeOptions, folder: Path) -> list[str]:
    """Return the options as `mockdriver serve` takes them; sockets are made in `folder`."""
    words = [
        *("--grace-seconds", str(options.get("grace_seconds", GRACE_SECONDS))),
        *_option("--driver-name", options.get("driver_name")),
        *_option("--node", options.get("node")),
        *_option("--node-info-reply", options.get("node_info_reply")),
        *_option("--node-mounts", options.get("node_mounts")),
        *_option("--seed", options.get("seed")),
    ]
    for name, is_on in options.get("capabilities", {}).items():
        words += ["--capability", f"{name}={'on' if is_on else 'off'}"]
    if "nodes" in options:
        words += ["--node-socket-dir", str(folder / NODE_SOCKETS)]
        words += [word for pattern in _patterns(options) for word in ("--nodes", pattern)]
    if options.get("own_control_socket", False):
        words += ["--control-endpoint", str(folder / CONTROL_SOCKET)]
    return [*words, *options.get("serve_options", ())]


def key_of(options: ServeOptions) -> Hashable:
    """Return what tells whether a process was started with the same options."""
    return tuple(sorted((name, repr(value)) for name, value in options.items()))


def _patterns(options: ServeOptions) -> Sequence[str]:
    nodes = options["nodes"]
    return [nodes] if isinstance(nodes, str) else nodes


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]
