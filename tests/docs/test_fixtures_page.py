"""docs/fixtures.md names all that a test can hold, and nothing else."""

from __future__ import annotations

import re

from mockdriver.testing import ServeOptions, start
from tests.docs.test_completeness import codes_in, rows

PAGE = "docs/fixtures.md"


def test_the_options_of_the_fixtures_are_documented_and_no_others() -> None:
    documented = [codes_in(cells[0])[0] for cells in rows(PAGE, "The marker")[1:]]

    assert documented == ["scenario", *ServeOptions.__annotations__]


def test_all_that_a_driver_of_a_test_has_is_documented() -> None:
    named = {
        re.split(r"\W", code)[0]
        for cells in rows(PAGE, "What a test can ask and do")
        for code in codes_in(cells[0])
    }

    with start() as driver:
        there = {name for name in dir(driver) if not name.startswith("_")}
    assert named == there
