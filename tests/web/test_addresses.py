"""Addresses of HTTP servers: how they are written, which are taken, and whose they are."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from mockdriver.web.addresses import Address, AddressMistake, is_loopback, listen, parse_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("localhost:0", "localhost", 0),
        ("0.0.0.0:65535", "0.0.0.0", 65535),
        ("[::1]:80", "::1", 80),
        ("some.host-name:1", "some.host-name", 1),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, host: str, port: int) -> None:
    address = parse_address("--x", text)

    assert (address.host, address.port) == (host, port)
    assert str(address) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "want HOST:PORT, as in 127.0.0.1:8080"),
        ("8080", "want HOST:PORT"),
        ("127.0.0.1", "want HOST:PORT"),
        ("http://127.0.0.1:8080", "want HOST:PORT"),
        ("127.0.0.1:8080/path", "want HOST:PORT"),
        ("::1:8080", "want HOST:PORT"),
        (":8080", "has no host"),
        ("[]:8080", "has no host"),
        ("[localhost]:8080", "what is in brackets must be an IPv6 address"),
        ("127.0.0.1:", "the port must be a number"),
        ("127.0.0.1:http", "the port must be a number"),
        ("127.0.0.1:-1", "the port must be a number"),
        ("127.0.0.1:65536", "the port must be a number from 0 to 65535"),
        ("127.0.0.1:٣", "the port must be a number"),
        ("127.0.0.1:" + "9" * 5000, "the port must be a number"),
    ],
)
def test_what_is_no_address_is_refused_with_what_is_allowed(text: str, reason: str) -> None:
    with pytest.raises(AddressMistake) as caught:
        parse_address("--metrics", text)

    assert str(caught.value).startswith("--metrics ")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost", "LocalHost."])
def test_loopback_is_this_machine_only(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example.com", "", "127.0.0.1.nip.io"]
)
def test_all_else_can_be_reached_by_others(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_free_port_is_found(host: str) -> None:
    bound = listen(Address("--x", host, 0))

    with closing(bound.socket):
        assert bound.port > 0
        assert bound.is_loopback
        name = f"[{host}]" if ":" in host else host
        assert bound.url("/metrics") == f"http://{name}:{bound.port}/metrics"
        socket.create_connection((host, bound.port), timeout=10).close()


def test_an_address_that_others_can_reach_is_known_as_such() -> None:
    bound = listen(Address("--x", "0.0.0.0", 0))

    with closing(bound.socket):
        assert not bound.is_loopback


def test_a_port_that_is_in_use_is_told() -> None:
    with closing(listen(Address("--x", "127.0.0.1", 0)).socket) as first:
        port = first.getsockname()[1]

        with pytest.raises(AddressMistake, match=rf"--x '127\.0\.0\.1:{port}': in use"):
            listen(Address("--x", "127.0.0.1", port))


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("no-such-host.invalid", "is no host that is known here"),
        ("x" * 300, "is no host that is known here"),
        ("192.0.2.1", "this machine has no such address"),
    ],
)
def test_a_host_that_is_not_here_is_told(host: str, reason: str) -> None:
    with pytest.raises(AddressMistake, match=reason):
        listen(Address("--x", host, 0))
