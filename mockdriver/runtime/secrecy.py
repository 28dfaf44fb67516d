"""Chance that nobody can guess: for secrets between a server and its users, and nothing else.

It is not fixed by the seed, and no behaviour may depend on it.
"""

from __future__ import annotations

import secrets

SECRET_BYTES = 32


def new_secret() -> bytes:
    """Return a secret that no other process has."""
    return secrets.token_bytes(SECRET_BYTES)
