"""Registration with kubelets: a socket in a folder that a kubelet watches says who and where.

What node-driver-registrar does for other drivers, so that none is needed. The kubelet sees the
socket appear, asks GetInfo, calls NodeGetInfo on the CSI socket that it is told of, and says by
NotifyRegistrationStatus what came of it. When the socket goes away it takes the driver off the
node's list. The API is package pluginregistration, v1 of k8s.io/kubelet.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.message import DecodeError, Message

from kubelet_spec import pluginregistration_pb2
from mockdriver.driver.calls import Handler
from mockdriver.journal import Journal
from mockdriver.server.registration_plan import FOLDER_OPTION, Registration
from mockdriver.server.socket_server import SocketServer
from mockdriver.server.sockets import EndpointMistake

SERVICE = pluginregistration_pb2.DESCRIPTOR.services_by_name["Registration"]

PLUGIN_TYPE = "CSIPlugin"
SUPPORTED_VERSIONS = ("1.0.0",)
"""The one version that stands for all of CSI 1.x; kubelets take no other of these."""

SHOWN_CHARACTERS = 1_000
"""A kubelet's text is cut here: it says what failed, with the errors below it."""

_THREADS = 8
"""Of their own: a kubelet waits for GetInfo one second only, so no held CSI call may be first."""

_GRACE_SECONDS = 1.0
"""For calls in flight. They wait for nothing."""

_log = logging.getLogger("mockdriver")


class KubeletRegistration:
    """The registration sockets of all nodes, from `open` to `close`."""

    def __init__(
        self, registrations: Sequence[Registration], driver_name: str, journal: Journal
    ) -> None:
        self._registrations = registrations
        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="registration")
        self._sockets = [
            _RegistrationSocket(item, _handlers(item, driver_name, journal), pool)
            for item in registrations
        ]
        self._pool = pool

    def __str__(self) -> str:
        first, *others = self._registrations
        if others:
            return f"with {len(others) + 1} registration sockets"
        return f"with the registration socket {first.path}"

    def open(self) -> None:
        """Make the sockets, and their folders where there are none; raises EndpointMistake.

        The CSI sockets must answer by now: a kubelet may call at once.
        """
        for socket in self._sockets:
            _make_folder(socket.path.parent)
            try:
                socket.open()
            except EndpointMistake as mistake:
                raise EndpointMistake(f"{FOLDER_OPTION}: {mistake}") from None

    def look(self) -> None:
        """Make each socket again that somebody has taken away, as far as that is possible."""
        for socket in self._sockets:
            socket.look()

    def close(self) -> None:
        """Remove the sockets, which makes kubelets forget the driver."""
        for wait in [socket.begin_close() for socket in self._sockets]:
            wait()
        self._pool.shutdown(wait=True)

    def remove_files(self) -> None:
        """Remove the sockets without stopping, for a process that ends at once."""
        for socket in self._sockets:
            socket.remove_file()


class _RegistrationSocket:
    """One registration socket. Its loss does not end the server: the CSI sockets are there."""

    def __init__(
        self, registration: Registration, handlers: Mapping[str, Handler], pool: ThreadPoolExecutor
    ) -> None:
        self.path = registration.path
        self._registration = registration
        self._handlers = handlers
        self._pool = pool
        self._server: SocketServer | None = None
        self._made = 0
        self._trouble = ""

    def open(self) -> None:
        """Make the socket; raises EndpointMistake."""
        self._server = SocketServer(
            self.path,
            {SERVICE.full_name: self._handlers},
            self._pool,
            descriptor_pool.Default(),
            bind_as=hidden_name(self.path, self._made),
        )
        self._made += 1
        _log.info(
            "registration socket %s tells a kubelet that node %r has its CSI socket at %s",
            self.path,
            self._registration.node_id,
            self._registration.endpoint,
        )

    def look(self) -> None:
        """Make the socket again if it has gone, and say so; say once if that is not possible."""
        if self._server is not None:
            if self._server.is_reachable():
                return
            _log.warning(
                "registration socket %s was removed or replaced by somebody else", self.path
            )
            self.begin_close()
        try:
            self.open()
        except EndpointMistake as mistake:
            if str(mistake) != self._trouble:
                self._trouble = str(mistake)
                _log.warning("it is made again as soon as possible: %s", mistake)
        else:
            self._trouble = ""

    def begin_close(self) -> Callable[[], object]:
        """Remove the socket, and return a function that waits for the calls in flight."""
        if self._server is None:
            return lambda: None
        wait = self._server.begin_stop(_GRACE_SECONDS)
        self._server = None  # only now: until then remove_file() has something to remove
        return wait

    def remove_file(self) -> None:
        """Remove the socket, unless another process has put its own in the place."""
        if self._server is not None:
            self._server.remove_file()


def hidden_name(path: Path, made: int) -> Path:
    """Return the name under which gRPC binds a registration socket before it is moved to `path`.

    Kubelets ignore names that begin with a dot: none asks before the socket is at its place. The
    number keeps a socket that is made again apart from the one before, whose end gRPC cleans up.
    """
    return path.with_name(f".{made % 10}{path.name[2:]}")


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EndpointMistake(
            f"{FOLDER_OPTION} {str(folder)!r}: cannot be made: {error.strerror}"
        ) from None
    _log.warning(
        "registration folder %s was not there and is made: no kubelet has made it, so perhaps none "
        "looks there",
        folder,
    )


def _handlers(
    registration: Registration, driver_name: str, journal: Journal
) -> Mapping[str, Handler]:
    """Return the handlers of the two RPCs, by name. Their calls are recorded like those of CSI."""
    info = pluginregistration_pb2.PluginInfo(
        type=PLUGIN_TYPE,
        name=driver_name,
        endpoint=registration.endpoint,
        supported_versions=SUPPORTED_VERSIONS,
    )

    def get_info(request: pluginregistration_pb2.InfoRequest) -> Message:
        return info

    def notify(status: pluginregistration_pb2.RegistrationStatus) -> Message:
        if not status.plugin_registered:
            _log.warning(
                "the kubelet at %s has not registered node %r: %s",
                registration.path,
                registration.node_id,
                _shown(status.error),
            )
        return pluginregistration_pb2.RegistrationStatusResponse()

    methods: Mapping[str, Callable[[Any], Message]] = {
        "GetInfo": get_info,
        "NotifyRegistrationStatus": notify,
    }
    return {
        name: _recorded(name, method, registration.node_id, journal)
        for name, method in methods.items()
    }


def _recorded(
    name: str, method: Callable[[Any], Message], node_id: str, journal: Journal
) -> Handler:
    rpc = SERVICE.methods_by_name[name]
    request_type = getattr(pluginregistration_pb2, rpc.input_type.name)
    response_type = getattr(pluginregistration_pb2, rpc.output_type.name)

    def handle(body: bytes, context: grpc.ServicerContext) -> bytes:
        entry = journal.begin(
            service=SERVICE.name,
            rpc=name,
            request_type=request_type,
            response_type=response_type,
            request_bytes=body,
            peer=context.peer(),
            node_id=node_id,
        )
        try:
            response: bytes = method(request_type.FromString(body)).SerializeToString()
        except DecodeError:
            code = grpc.StatusCode.INVALID_ARGUMENT
            message = f"{len(body)} bytes that are no {rpc.input_type.full_name}"
            journal.end(
                entry,
                code=code.name,
                code_number=code.value[0],
                message=message,
                response_bytes=b"",
            )
            context.abort(code, message)
        journal.end(entry, code="OK", code_number=0, message="", response_bytes=response)
        return response

    return handle


def _shown(text: str) -> str:
    """Return text from outside in quotes, cut, with all escaped that a terminal might obey."""
    if len(text) > SHOWN_CHARACTERS:
        return f"{text[:SHOWN_CHARACTERS]!r}… ({len(text)} characters)"
    return repr(text)
