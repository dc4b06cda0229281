"""A headless browser, for tests that open pages as a person does."""

import shutil
from contextlib import contextmanager

import pytest


@contextmanager
def browser():
    """A running Chromium; skips the test where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox"]
        )
        try:
            yield running
        finally:
            running.close()


class Visit:
    """An opened page, with what it asked for and complained of.

    Attributes:
        page: the page.
        errors: messages of the console that are errors, and exceptions.
        requests: addresses that were asked for, the page's own and those within it left out.
    """

    def __init__(self, running, address, width, dark=False, height=900):
        scheme = "dark" if dark else "light"
        self.page = running.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        self.errors, self.requests = [], []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._ask(request.url, address))
        self.page.goto(address)

    def _note(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def _ask(self, url, address):
        if url != address and not url.startswith(("data:", "blob:")):
            self.requests.append(url)

    def overflow(self):
        """By how many pixels the page is wider than the window."""
        return self.page.evaluate("document.scrollingElement.scrollWidth - innerWidth")

    def close(self):
        self.page.close()
