"""One fault, as data: which calls it is about, and what it does to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

BEFORE, AFTER = "before", "after"

MAX_FAULTS = 1_000
"""How many faults there can be: a call may have to look at all of them."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault. The words are those of `Fault` in faults.proto, and of `faults` in scenario files.

    Which calls: `rpc` or `cloud_api`, `node_id` and the values of `request` are patterns with `*`
    and `?`; `calls`, `times`, `probability` and `seed` say which of those that match. What it does:
    it waits `delay_seconds` and then at the barrier `hold`, and then answers with `code` (`message`
    and `details` with it) or `error`, with fields of the `reply` overridden, with `no_answer` at
    all, or ends the process with `exit`. Empty or None is not given.
    """

    name: str = ""
    rpc: str = ""
    cloud_api: str = ""
    node_id: str = ""
    request: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    calls: str = ""
    times: int | None = None
    probability: float | None = None
    seed: int = 0
    when: str = ""
    code: str = ""
    message: str = ""
    details: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    delay_seconds: float = 0.0
    hold: str = ""
    no_answer: bool = False
    reply: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    exit: int | None = None
    lifetime_seconds: float | None = None
    enabled: bool = True

    @property
    def answers(self) -> bool:
        """Tell whether it does more than let a call wait."""
        return bool(self.code or self.error or self.no_answer or self.reply) or (
            self.exit is not None
        )

    @property
    def acts_after(self) -> bool:
        """Tell whether the work is done first.

        Fields of a reply are overridden after it unless `when` says otherwise, since there has to
        be a reply; everything else happens before it.
        """
        return self.when == AFTER or (self.when == "" and bool(self.reply))
