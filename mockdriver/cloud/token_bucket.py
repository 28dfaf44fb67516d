"""The quota of one cloud API: a bucket of tokens that fills at a steady rate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of one cloud API; what is None is not limited.

    `burst` tokens at most, `per_second` new ones (without it none ever comes back), `max_ids` ids
    in one call, and `delay_seconds` that each call takes before it has its effect.
    """

    burst: float | None = None
    per_second: float | None = None
    max_ids: int | None = None
    delay_seconds: float = 0.0


UNLIMITED = Quota()


class TokenBucket:
    """Counts the calls that a quota still allows. Each call takes one token."""

    __slots__ = ("_burst", "_filled_at", "_per_second", "_tokens")

    def __init__(self, quota: Quota, now_seconds: float) -> None:
        self._burst = quota.burst
        self._per_second = quota.per_second or 0.0
        self._tokens = quota.burst or 0.0
        self._filled_at = now_seconds

    def copy(self, later_seconds: float = 0.0) -> TokenBucket:
        """Return a bucket that is as full; it was filled so much later."""
        bucket = TokenBucket(UNLIMITED, self._filled_at + later_seconds)
        bucket._burst, bucket._per_second = self._burst, self._per_second
        bucket._tokens = self._tokens
        return bucket

    def take(self, now_seconds: float) -> bool:
        """Take a token; tell whether there was one."""
        if self._burst is None:
            return True
        gained = (now_seconds - self._filled_at) * self._per_second
        self._tokens = min(self._burst, self._tokens + gained)
        self._filled_at = now_seconds
        # A token that is whole but for rounding is whole: the clock adds up in binary fractions.
        if self._tokens < 1.0 - 1e-9:
            return False
        self._tokens = max(0.0, self._tokens - 1.0)
        return True
