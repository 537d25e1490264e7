"""A real browser on a real service: Chromium from PATH, driven by playwright."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

NOT_RUN = "NOT RUN: no chromium on PATH"
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 30_000.0
expect.set_options(timeout=PATIENCE_MS)


def find_chromium() -> Path | None:
    """The browser to run, from PATH."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return Path(found) if found else None


@dataclass
class Visit:
    """A page, and what it did besides what it shows."""

    page: Page
    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def watch(self) -> "Visit":
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._request)
        return self

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "status of" not in message.text:  # a refusal is no fault of the page
            self.errors.append(message.text)

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).scheme in ("http", "https"):
            self.hosts.add(urlsplit(request.url).netloc)


@asynccontextmanager
async def chromium(binary: Path) -> AsyncIterator[Browser]:
    """The browser, until the block ends."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(binary), args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def visiting(browser: Browser, address: str) -> AsyncIterator[Visit]:
    """A window of its own on the service."""
    context = await browser.new_context(base_url=address, viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(PATIENCE_MS)
    try:
        yield Visit(await context.new_page()).watch()
    finally:
        await context.close()
