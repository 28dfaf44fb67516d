"""The line that Kubernetes' e2e suite reads out of the log of its mock CSI driver.

    gRPCCall: {"Method":"/csi.v1.Node/NodePublishVolume","Request":{…},"Response":{…},
    "Error":"","FullError":null}

all on one line. The suite looks for `gRPCCall:` and has encoding/json read what follows.
"""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.message import Message

from mockdriver.journal.entry import Entry, decoded
from mockdriver.journal.go_json import go_json
from mockdriver.journal.records import json_line

PREFIX = "gRPCCall: "

MAX_BODY_BYTES = 4 * 1024 * 1024
"""A server written in Go refuses longer messages unread, so no such line was ever seen."""

_GO_CODES = {"CANCELLED": "Canceled"}
"""The names of codes in Go that are more than those of gRPC in another spelling."""

_UNSAFE = re.compile("[<>&\x7f-\x9f\u2028\u2029]")
"""What encoding/json escapes by default, and what a terminal takes for a command."""


def e2e_line(entry: Entry) -> str:
    """Return the line for a call that has ended, secrets stripped, without a line end."""
    failed = entry.code != "OK"
    package = entry.request_type.DESCRIPTOR.file.package
    fields = {
        "Method": f"/{package}.{entry.service}/{entry.rpc}",
        "Request": _body(entry.request_type, entry.request_bytes),
        "Response": None if failed else _body(entry.response_type, entry.response_bytes),
        "Error": _error_text(entry) if failed else "",
        "FullError": _full_error(entry) if failed else None,
    }
    return PREFIX + json_line(fields, _UNSAFE)


def _body(type_: type[Message], body: bytes) -> dict[str, Any]:
    if len(body) > MAX_BODY_BYTES:
        return {"omitted_bytes": len(body)}
    message = decoded(type_, body)
    return {} if message is None else go_json(message)


def _error_text(entry: Entry) -> str:
    words = (word.capitalize() for word in entry.code.split("_"))
    go_code = _GO_CODES.get(entry.code) or "".join(words)
    return f"rpc error: code = {go_code} desc = {entry.message}"


def _full_error(entry: Entry) -> dict[str, Any]:
    """Return google.rpc.Status as Go writes it: an empty message is left out."""
    fields = {"code": entry.code_number, "message": entry.message}
    return {name: value for name, value in fields.items() if value}
