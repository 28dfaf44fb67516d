"""What has to be known of the control API before anybody calls it.

The API is a tenth of all that a server imports, and most servers start for a CO that knows nothing
of it: so it is imported at the first call. A test compares these names with the protos.
"""

from __future__ import annotations

PACKAGE = "mockdriver.control.v1"
SERVICES = ("Cloud", "Faults", "Journal", "State", "Clock")
FULL_NAMES = tuple(f"{PACKAGE}.{name}" for name in SERVICES)

STREAMS = frozenset({"Journal.WatchCalls"})
"""The RPCs that answer with a stream."""
