"""The secret that users of a page must know where others can reach it."""

from __future__ import annotations

MIN_TOKEN_CHARACTERS = 16


class TokenMistake(ValueError):
    """A token that is missing where one is needed, or too short."""


def check_token(option: str, token: str) -> None:
    """Raise TokenMistake for a token that could be guessed."""
    if len(token) < MIN_TOKEN_CHARACTERS:
        raise TokenMistake(
            f"{option}: has {len(token)} characters, want {MIN_TOKEN_CHARACTERS} or more, as "
            "`openssl rand -hex 16` makes them"
        )
