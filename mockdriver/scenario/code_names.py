"""Names of gRPC status codes and of CSI access modes, as stories write them."""

from __future__ import annotations

from mockdriver.faults.status_codes import STATUS_CODES

CODES = STATUS_CODES
"""The status codes of gRPC, in the order of their numbers."""

ACCESS_MODES = (
    "UNKNOWN",
    "SINGLE_NODE_WRITER",
    "SINGLE_NODE_READER_ONLY",
    "MULTI_NODE_READER_ONLY",
    "MULTI_NODE_SINGLE_WRITER",
    "MULTI_NODE_MULTI_WRITER",
    "SINGLE_NODE_SINGLE_WRITER",
    "SINGLE_NODE_MULTI_WRITER",
)
"""VolumeCapability.AccessMode.Mode of the CSI spec, in the order of the numbers."""
