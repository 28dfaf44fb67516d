"""Write the tables of RPCs into docs/services, from the driver's own table of RPCs.

`python -m tools.service_docs` rewrites what stands between the two markers of each page; all else
on the pages is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from csi_spec import csi_pb2
from mockdriver.driver.rpcs import BY_NAME, RPCS, SERVICE_NEEDS, Rpc

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    service: ROOT / "docs" / "services" / f"{service.lower()}.md"
    for service in dict.fromkeys(rpc.service for rpc in RPCS)
}
"""The page of each service that is built."""

BEGIN = "<!-- begin of what tools/service_docs.py writes -->"
END = "<!-- end of what tools/service_docs.py writes -->"

_NOTHING = "-"


class NoMarkers(ValueError):
    """A page without the two markers, in their order, each on a line of its own."""


def generated(service: str) -> str:
    """Return the table of a service's RPCs in the order of csi.proto, and what is not built."""
    rows = [(f"`{rpc.name}`", _needs(rpc), _required(rpc), held_by(rpc)) for rpc in _built(service)]
    lines = _table(("RPC", "needs", "required fields", "holds while it runs"), rows)
    if needed := SERVICE_NEEDS.get(service):
        lines += ["", f"All of them need `{needed}` besides."]
    if missing := not_built(service):
        lines += ["", f"Not built, and answered with UNIMPLEMENTED: {_listed(missing)}."]
    return "\n".join(lines)


def held_by(rpc: Rpc) -> str:
    """Return in words what a call of an RPC holds: found out by asking its key function."""
    if rpc.key is None:
        return _NOTHING
    full = rpc.key(_request_of_names(rpc))
    parts = [f"`{name}`" for name in (full.id, full.part) if name is not None]
    words = " and ".join(parts)
    if full.part is None:
        return words
    request = _request_of_names(rpc)
    request.ClearField(full.part)
    if full.part not in rpc.required and rpc.key(request).part is None:
        words += f"; without `{full.part}` all of `{full.id}`"
    return words


def not_built(service: str) -> list[str]:
    """Return the RPCs of a service that the driver's table has no row for."""
    return [
        method.name
        for method in csi_pb2.DESCRIPTOR.services_by_name[service].methods
        if (service, method.name) not in BY_NAME
    ]


def rewritten(text: str, service: str) -> str:
    """Return a page's text with a fresh table in it; raises NoMarkers."""
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if not begin or not end:
        raise NoMarkers(f"want a line {BEGIN} and below it a line {END}")
    return f"{before}{begin}\n{generated(service)}\n\n{end}{after}"


def _built(service: str) -> Iterable[Rpc]:
    methods = csi_pb2.DESCRIPTOR.services_by_name[service].methods
    found = (BY_NAME.get((service, method.name)) for method in methods)
    return [rpc for rpc in found if rpc is not None]


def _request_of_names(rpc: Rpc) -> Any:
    """Return a request in which each text field holds its own name, so that a key names them."""
    method = csi_pb2.DESCRIPTOR.services_by_name[rpc.service].methods_by_name[rpc.name]
    request = getattr(csi_pb2, method.input_type.name)()
    for field in method.input_type.fields:
        if field.type == field.TYPE_STRING and not field.is_repeated:
            setattr(request, field.name, field.name)
    return request


def _needs(rpc: Rpc) -> str:
    return _NOTHING if rpc.needs is None else f"`{rpc.needs}`"


def _required(rpc: Rpc) -> str:
    return _listed(rpc.required) or _NOTHING


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, *rows)]
    return [lines[0], "|" + "---|" * len(heads), *lines[1:]]


def main() -> None:
    """Rewrite the pages, and print a line for each that has changed."""
    for service, page in PAGES.items():
        old = page.read_text(encoding="utf-8")
        new = rewritten(old, service)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"service_docs: {page.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
