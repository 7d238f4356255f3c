from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

import bough
from bough import Media, Store, Usage, assistant, tool_call, tool_result, user
from bough.model import Thinking
from tests.browser import chromium

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for the whole run: while it lives it keeps an event loop in this thread, and other tests have their own.
    program, environment = chromium()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--headless=shell"], env={**os.environ, **environment}
        )
        yield found
        found.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "garden.db") as found:
        yield found


@pytest.fixture
def garden(store: Store) -> Store:
    """A conversation with a tool, a picture, thinking, and three branches; `cli:garden` stands on the first."""
    session = store.session("cli:garden", title="The oak & the <ash>")
    with session.turn(
        user("How old is the oak?", Media("image", "image/png", data=PIXEL, name="oak.png")), model="m-1"
    ) as turn:
        turn.add(
            assistant(Thinking("Girth tells age."), "I will *measure* it.", tool_call("c1", "measure", {"tree": "oak"}))
        )
        turn.add(tool_result("c1", "girth: 4.1 m"))
        turn.add(
            assistant("About **210** years:\n\n```python\nage = 4.1 / 0.0195  # rings\n```\n"),
            usage=Usage(input_tokens=1200, output_tokens=34, cost=0.0042),
        )
    start = session.path()[-1].id
    session.save_turn([user("And the ash?"), assistant("Younger.")])
    for place, words in enumerate(("In feet?", "In French?")):
        store.fork(start, key=f"cli:branch-{place}").save_turn([user(words), assistant(f"Answer to {words}")])
    return store
