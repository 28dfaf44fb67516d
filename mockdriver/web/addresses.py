"""Addresses of HTTP servers, as options give them: which, is it free, is it this machine only."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import socket
from dataclasses import dataclass

MAX_PORT = 65_535
_EXAMPLE = "127.0.0.1:8080"
_SHOWN_CHARACTERS = 100


class AddressMistake(ValueError):
    """An address that cannot be listened on, with the reason and what to do."""


@dataclass(frozen=True)
class Address:
    """A host and a port of this machine; port 0 means any that is free. `option` gave it."""

    option: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Bound:
    """A socket that listens. `host` is as the option gave it, `port` the one it got."""

    socket: socket.socket
    host: str
    port: int
    is_loopback: bool

    def url(self, path: str = "/") -> str:
        """Return the URL of a path there."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{path}"


def parse_address(option: str, text: str) -> Address:
    """Return the address that an option gives as HOST:PORT; raises AddressMistake.

    An IPv6 address stands in brackets, as in URLs.
    """
    found = re.fullmatch(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<host>[^:\[\]/]*)):(?P<port>[^:/]*)", text)
    if found is None:
        raise _mistake(option, text, f"want HOST:PORT, as in {_EXAMPLE} or [::1]:8080")
    host = found["v6"] if found["v6"] is not None else found["host"]
    if not host:
        raise _mistake(
            option, text, f"has no host, want one as in {_EXAMPLE}; 0.0.0.0 is every address"
        )
    if found["v6"] is not None and not _is_ipv6(host):
        raise _mistake(option, text, "what is in brackets must be an IPv6 address, as in [::1]")
    digits = found["port"]
    is_number = digits.isascii() and digits.isdecimal() and len(digits) < 6
    if not (is_number and int(digits) <= MAX_PORT):
        raise _mistake(option, text, f"the port must be a number from 0 to {MAX_PORT}")
    return Address(option, host, int(digits))


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine and no other can reach it; by name only localhost is."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(address: Address) -> Bound:
    """Listen at an address; raises AddressMistake."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise _mistake(
            address.option, str(address), f"{_quoted(address.host)} is no host that is known here"
        ) from None
    listener = socket.socket(family, kind, protocol)
    try:
        # So that a server can start again where one has just ended; two never share a port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _mistake(address.option, str(address), _reason(error)) from None
    host, port = listener.getsockname()[:2]
    return Bound(listener, address.host, port, is_loopback(host))


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "in use, another process listens there; stop it or choose another port"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "not permitted; ports below 1024 are for root, choose another one"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address"
    return f"cannot be listened on: {os.strerror(error.errno or errno.EIO)}"


def _is_ipv6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


def _mistake(option: str, text: str, reason: str) -> AddressMistake:
    return AddressMistake(f"{option} {_quoted(text)}: {reason}")
