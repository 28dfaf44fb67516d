"""Which calls somebody means who asks about calls so far: what is wrong with how he says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from google.protobuf.descriptor import Descriptor

from mockdriver.faults import field_paths
from mockdriver.faults.field_paths import BadPath
from mockdriver.faults.flaws import FlawAt, UnknownWord
from mockdriver.faults.pattern import Pattern
from mockdriver.faults.subjects import rpcs


def flaws_of_calls(
    rpc: str | None,
    service: str | None,
    request: Mapping[str, str],
    response: Mapping[str, str],
) -> Iterator[FlawAt]:
    """Yield what no call can have: an RPC, a service, or a field that there is not.

    A field has to be one of an RPC that is meant, not of all of them.
    """
    of_service = Pattern(service or "*")
    names = {name: types for name, types in rpcs().items() if of_service.matches(types.service)}
    if not names:
        services = tuple(dict.fromkeys(types.service for types in rpcs().values()))
        yield FlawAt(("service",), UnknownWord("service", service or "", services))
        return
    of_rpc = Pattern(rpc or "*")
    meant = [types for name, types in names.items() if of_rpc.matches(name)]
    if not meant:
        yield FlawAt(("rpc",), UnknownWord("RPC", rpc or "", tuple(names)))
        return
    yield from _flaws_of_paths("request", request, [types.request for types in meant])
    yield from _flaws_of_paths("response", response, [types.response for types in meant])


def _flaws_of_paths(
    side: str, paths: Mapping[str, str], types: Sequence[Descriptor]
) -> Iterator[FlawAt]:
    for path in paths:
        nearest: BadPath | None = None
        for type_ in types:
            try:
                field_paths.parse(path, type_)
                break
            except BadPath as bad:
                if nearest is None or bad.followed > nearest.followed:
                    nearest = bad
        else:
            assert nearest is not None
            yield FlawAt((side, path), nearest.flaw, at_key=True)
