"""Which Host and Origin headers are this server's."""

from __future__ import annotations

import socket

import pytest

from mockdriver.web.addresses import Bound
from mockdriver.web.hosts import allowed_host, allowed_origin


def bound(*, is_loopback: bool) -> Bound:
    """Return an address without a listener."""
    with socket.socket() as unused:
        return Bound(unused, "127.0.0.1", 8080, is_loopback)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "127.0.0.1", "localhost:9999", "LOCALHOST"],
)
def test_on_loopback_the_host_must_be_this_machine(host: str) -> None:
    assert allowed_host(host, bound(is_loopback=True))


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example.com",
        "evil.example.com:8080",
        "127.0.0.1.evil.example.com:8080",
        "localhost.evil.example.com",
        "127.0.0.1@evil.example.com",
        "127.0.0.1:8080@evil.example.com",
        "evil.example.com#127.0.0.1",
        "localhost:8080 evil",
        "localhost:808080",
        "192.168.0.1:8080",
        "0.0.0.0:8080",
        "[::ffff:10.0.0.1]:8080",
    ],
)
def test_a_name_of_another_site_that_leads_to_loopback_is_refused(host: str | None) -> None:
    assert not allowed_host(host, bound(is_loopback=True))


def test_elsewhere_a_server_does_not_know_its_names() -> None:
    assert allowed_host("mock.cluster.local:8080", bound(is_loopback=False))


@pytest.mark.parametrize("origin", [None, "http://127.0.0.1:8080", "https://127.0.0.1:8080"])
def test_a_request_of_the_own_page_or_of_a_program_is_taken(origin: str | None) -> None:
    assert allowed_origin(origin, "127.0.0.1:8080")


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://evil.example.com",
        "http://127.0.0.1",
        "http://127.0.0.1:9090",
        "http://localhost:8080",
        "ftp://127.0.0.1:8080",
        "http://127.0.0.1:8080.evil.example.com",
        "http://evil.example.com@127.0.0.1:8080",
        "http://[broken",
    ],
)
def test_a_request_of_another_site_is_refused(origin: str) -> None:
    assert not allowed_origin(origin, "127.0.0.1:8080")


def test_without_a_host_no_origin_is_the_own_one() -> None:
    assert not allowed_origin("http://", None)
