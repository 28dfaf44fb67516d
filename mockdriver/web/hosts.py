"""Whether a request was meant for this server: its Host and Origin headers.

A page of another site can make a browser send requests to a server on the same machine. Two things
keep it out. The Host header is what stands in the browser's address bar: by DNS rebinding a name of
that site may lead here, and then the header has that name. The Origin header says which site a
request comes from.
"""

from __future__ import annotations

import re

from mockdriver.web.addresses import Bound, is_loopback

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:\[\]/@?#\s]+)(?::(?P<port>[0-9]{1,5}))?")


def allowed_host(host: str | None, bound: Bound) -> bool:
    """Tell whether a Host header names this server.

    On loopback it must name this machine, with this port or, behind a tunnel, any. Elsewhere a
    server cannot know its names; there is a token, or nothing that needs one.
    """
    if not bound.is_loopback:
        return True
    found = _HOST.fullmatch(host or "")
    return found is not None and is_loopback(found["name"].strip("[]"))


def allowed_origin(origin: str | None, host: str | None) -> bool:
    """Tell whether a request comes from this server's own page, or from no page at all.

    Browsers send the header with each request that could change something; programs send none.
    """
    if origin is None:
        return True
    return bool(host) and origin in (f"http://{host}", f"https://{host}")
