"""Text with `*` and `?` in it, as shells have them, and nothing else that is special."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

Test = Callable[[str], bool]


def is_pattern(text: str) -> bool:
    """Tell whether `text` stands for more than itself."""
    return "*" in text or "?" in text


def matcher(pattern: str) -> Test:
    """Return what tells whether a text is as the pattern says, from its start to its end."""
    if not is_pattern(pattern):
        return pattern.__eq__
    # `[` is nothing special: ids and paths have it.
    match = re.compile(translate(pattern.replace("[", "[[]"))).match
    return lambda text: match(text) is not None
