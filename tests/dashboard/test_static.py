"""The page's own files: nothing from elsewhere, nothing inline, colours that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mockdriver.dashboard.app import STATIC

FILES = sorted(STATIC.iterdir())
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
PAGES = [path for path in FILES if path.suffix == ".html"]

READ_ON = [
    ("text", "ground"),
    ("text", "surface"),
    ("text", "raised"),
    ("muted", "ground"),
    ("muted", "surface"),
    ("muted", "raised"),
    ("accent", "surface"),
    ("on-accent", "accent"),
    ("good", "surface"),
    ("good", "good-ground"),
    ("bad", "surface"),
    ("bad", "bad-ground"),
    ("warn", "surface"),
    ("warn", "warn-ground"),
    ("on-boot", "boot"),
    ("on-interface", "interface"),
    ("on-csi", "csi"),
    ("on-out-of-band", "out-of-band"),
]
"""Which colour is read on which."""

LEAST_CONTRAST = 4.5
"""What WCAG 2 asks of text (success criterion 1.4.3)."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_names_an_outside_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")

    assert re.findall(r"(?:[a-z]+:)?//[a-z0-9]", text.lower()) == []
    assert "@import" not in text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_has_no_script_and_no_style_of_its_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", text) == []
    assert re.findall(r"<script(?![^>]*\ssrc=)", text) == []
    assert '<html lang="en">' in text


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_writes_text_and_never_markup(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", text) == []
    )


def test_every_element_that_scripts_look_for_is_in_a_page() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    scripts = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)

    wanted = {*re.findall(r'(?:byId|getElementById)\("([a-z-]+)"\)', scripts)}
    assert len(wanted) > 30
    assert [id for id in sorted(wanted) if f'id="{id}"' not in pages] == []


def colours() -> dict[str, tuple[str, str]]:
    """Return the colours of the style sheet by name, for light and for dark."""
    text = (STATIC / "style.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", text)
    single = re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", text)
    return {name: (light, dark) for name, light, dark in pairs} | {
        name: (colour, colour) for name, colour in single
    }


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), READ_ON)
def test_text_can_be_read(text: str, ground: str, theme: int) -> None:
    known = colours()

    assert contrast(known[text][theme], known[ground][theme]) >= LEAST_CONTRAST
