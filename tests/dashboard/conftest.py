"""A headless Chromium for the tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.dashboard.asking import Site, site
from tests.waiting import PATIENCE_SECONDS
from tools import chromium

_PATIENCE_MILLISECONDS = PATIENCE_SECONDS * 1000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start one browser for all tests."""
    expect.set_options(timeout=_PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium.program(), args=chromium.flags()
        )
        yield started
        started.close()


class Tab:
    """A tab that shows a site: `page` is Playwright's. It notes what went wrong in it."""

    def __init__(self, site: Site, page: Page) -> None:
        self.site = site
        self.page = page
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", self._note_request)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda message: (
                self.errors.append(message.text)
                if message.type == "error" and "Failed to load resource" not in message.text
                else None
            ),
        )

    def _note_request(self, request: Request) -> None:
        self.requests.append(request.url)

    def card(self, id: str) -> Any:
        """Return the card of an instance."""
        button = self.page.get_by_role("button", name=id, exact=True)
        return self.page.locator("li.card").filter(has=button)

    def slots(self, id: str) -> Any:
        """Return the drawing of an instance's slots; its label says who uses them."""
        return self.card(id).get_by_role("img")

    def dialog(self) -> Any:
        """Return the dialog of the instance that is open."""
        return self.page.get_by_role("dialog")

    def open(self, id: str) -> Any:
        """Open the dialog of an instance."""
        self.page.get_by_role("button", name=id, exact=True).click()
        return self.dialog()


OpenTab = Callable[..., Tab]


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[OpenTab]:
    """Open sites in tabs of their own; fails if a script had an error, or asked elsewhere."""
    with ExitStack() as opened:
        tabs: list[Tab] = []

        def open_one(shown: Site | None = None, *, path: str = "", **settings: Any) -> Tab:
            if shown is None:
                shown = opened.enter_context(site())
            context = browser.new_context(**settings)
            opened.callback(context.close)
            context.set_default_timeout(_PATIENCE_MILLISECONDS)
            tab = Tab(shown, context.new_page())
            tabs.append(tab)
            tab.page.goto(shown.url.removesuffix("/") + path)
            return tab

        yield open_one
        for tab in tabs:
            assert tab.errors == []
            elsewhere = [url for url in tab.requests if not url.startswith(tab.site.url)]
            assert elsewhere == []


@pytest.fixture
def tab(open_tab: OpenTab) -> Tab:
    """Return a tab with the small scenario, loaded."""
    opened = open_tab()
    expect(opened.page.locator("li.card")).to_have_count(2)
    expect(opened.page.locator("#live")).to_have_text("live")
    return opened
