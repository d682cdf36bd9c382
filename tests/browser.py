"""A real browser for tests: Debian's Chromium, driven by Playwright, in a profile of its own.

Where one of the two is missing, tests are skipped with the reason; with SRCGRAD_BROWSER=required they fail.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any  # Playwright is optional

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass
class Seen:
    """What a page did: addresses that it asked for, what it said in the console, errors."""

    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def missing(why: str) -> None:
    """Skip the test, or fail it where a browser is required."""
    if os.environ.get("SRCGRAD_BROWSER") == "required":
        pytest.fail(why)
    pytest.skip(why)


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """A running Chromium."""
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        missing("Chromium is not installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed")
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=path, args=FLAGS, viewport={"width": 1280, "height": 900}
        )
        context.set_default_timeout(60_000)  # a machine with much else to do is slow, not wrong
        yield context
        context.close()


@contextlib.contextmanager
def opened(context: Any, address: str, scheme: str = "light", before: str = "") -> Iterator[tuple[Any, Seen]]:
    """A page at an address, closed afterwards; `before` is a script that runs first."""
    page, seen = context.new_page(), Seen()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda message: seen.console.append(message.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.emulate_media(color_scheme=scheme)
    if before:
        page.add_init_script(before)
    page.goto(address)
    try:
        yield page, seen
    finally:
        page.close()


def wait(page: Any, condition: str, seconds: float = 60.0) -> None:
    """Wait until a condition of JavaScript holds; Playwright's own way needs `eval`, which the page forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(15)


@functools.cache
def axe() -> str:
    """The script of axe-core."""
    try:
        import axe_playwright_python
    except ImportError:
        missing("axe-playwright-python is not installed")
    return next(pathlib.Path(axe_playwright_python.__path__[0]).rglob("axe.min.js")).read_text(encoding="utf-8")


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong: the rule, and the elements."""
    page.evaluate(axe())
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    assert len(found["passes"]) > 10, "axe has looked"
    return [f"{one['id']}: {[node['html'][:200] for node in one['nodes'][:3]]}" for one in found["violations"]]
