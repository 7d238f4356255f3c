"""A server with a filled store and two models, and a browser that is signed in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.exporters.conftest import browser
from tests.server.page.sample import build
from tests.server.serving import Serving, serving

__all__ = ["browser"]
ANSWER = "The **oak** answers.\\n\\n- one\\n- two"


def filled(directory: Path) -> tuple[str, ...]:
    """Fill a store in a directory; the options of a server with two models, the second one slow."""
    build(directory / "s.db")
    (directory / "quick").write_text(ANSWER)
    slow = {"blocks": [{"type": "text", "text": "Slowly " * 200}], "delay": 0.05}
    (directory / "slow").write_text(json.dumps(slow))
    return ("--model", f"scripted:{directory}/quick", "--model", f"scripted:{directory}/slow")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with a store that has a bit of everything."""
    directory = tmp_path_factory.mktemp("page")
    with serving(directory, *filled(directory)) as running:
        yield running


class Watched:
    """A tab, and everything that it should never do."""

    def __init__(self, browser: Browser, served: Serving, **options: object) -> None:
        self.context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))  # type: ignore[arg-type]
        self.wrong: list[str] = []
        self.served = served
        self.page = self.tab()
        self.page.goto(f"{served.url}/signin#t={served.token}")
        self.page.wait_for_url(f"{served.url}/")

    def tab(self) -> Page:
        """Another tab of the same browser."""
        page = self.context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda line: self.wrong.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda sent: None if sent.url.startswith((self.served.url, "blob:"))
                else self.wrong.append(f"outside: {sent.url}"))  # fmt: skip
        return page

    def goto(self, path: str) -> Page:
        self.page.goto(self.served.url + path)
        return self.page


@pytest.fixture
def tab(browser: Browser, served: Serving) -> Iterator[Watched]:
    """A tab of a browser that is signed in. An error in its console, or a request to elsewhere, fails the test."""
    found = Watched(browser, served)
    yield found
    found.context.close()
    assert found.wrong == []
