"""Measure the page, and make pictures of it: `python -m tests.server.page.figures [--messages N] [--pictures DIR]`."""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import bough
from bough import Save, SaveTurn, Store, assistant, user
from tests.browser import chromium
from tests.server.page.conftest import Watched, filled
from tests.server.serving import Serving, serving

WORDS = [
    "oak",
    "ash",
    "birch",
    "elm",
    "willow",
    "pump",
    "dawn",
    "noon",
    "schedule",
    "forecast",
    "garden",
    "water",
    "litre",
    "log",
    "file",
    "test",
    "error",
]
PAINTED = """() => new Promise(done => new PerformanceObserver((list, own) => { own.disconnect();
    done(Math.round(list.getEntries().at(-1).startTime));
}).observe({ type: "largest-contentful-paint", buffered: true }))"""
PICTURES = (
    ("list", "/?source=claude-code", "light", 1280), ("conversation", "/c/claude-code:pump", "light", 1280),
    ("conversation", "/c/claude-code:pump", "dark", 1280), ("conversation", "/c/cli:oak", "light", 375),
    ("compare", "/diff/claude-code:pump...claude-code:log", "light", 1280),
)  # fmt: skip


def fill(store: Store, messages: int) -> None:
    """Conversations of 100 messages, one of 20,000, and a tree of 10,000 messages with 2,500 branches."""
    chance = random.Random(1)

    def said(count: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(count))

    for place in range(messages // 100):
        session = store.session(f"cli:{place:06}", directory=f"/home/me/p{place % 20}")
        session.save_turns([SaveTurn([user(f"{said(12)} needle{place}"), assistant(said(60))]) for _ in range(50)])
    long = store.session("cli:long", title="A long conversation")
    for _ in range(20):
        long.save_turns([SaveTurn([user(said(12)), assistant(said(60))]) for _ in range(500)])
    saves = [Save(user("root"))]
    for place in range(1, 10_000):
        saves.append(Save(user(said(6)), saves[-1] if place % 4 else saves[(place - 1) // 2]))
    ids = store.save_messages(saves)
    store.fork(ids[-1], "cli:tree", title="A tree")


def timed(work: Callable[[], Any]) -> int:
    began = time.perf_counter()
    work()
    return round((time.perf_counter() - began) * 1000)


def vitals(browser: Browser, served: Serving, path: str) -> dict[str, Any]:
    """What opening a screen in a fresh tab takes, with a processor four times slower."""
    tab = Watched(browser, served)
    page = tab.tab()
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    requests: list[str] = []
    page.on("requestfinished", lambda sent: requests.append(sent.url))
    page.goto(served.url + path)
    largest = page.evaluate(PAINTED)
    first = page.evaluate("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    heap = round(page.evaluate("performance.memory.usedJSHeapSize") / 1e6, 1)
    tab.context.close()
    return {
        "first paint ms": first,
        "largest paint ms": largest,
        "nodes": nodes,
        "heap MB": heap,
        "requests": len(requests),
    }


def typing(browser: Browser, served: Serving, word: str) -> list[int]:
    """Milliseconds from the last key of a word to its first hit, with the pause of 120 ms."""
    tab, found = Watched(browser, served), []
    for _ in range(5):
        page = tab.goto("/search")
        page.locator("#q").press_sequentially(word[:-1])
        page.wait_for_timeout(600)
        began = time.perf_counter()
        page.keyboard.press(word[-1])
        page.locator(f"mark:text-is('{word}')").first.wait_for()
        found.append(round((time.perf_counter() - began) * 1000))
    tab.context.close()
    return found


def written_elsewhere(browser: Browser, served: Serving) -> list[int]:
    """Milliseconds from a commit of another connection to its text on the screen."""
    tab, found = Watched(browser, served), []
    page: Page = tab.goto("/c/cli:000001")
    page.wait_for_timeout(1000)
    with bough.connect(str(served.db)) as store:
        for place in range(5):
            store.session("cli:000001").save_turn([user("More"), assistant(f"Seen{place}")])
            began = time.perf_counter()
            page.get_by_text(f"Seen{place}").wait_for()
            found.append(round((time.perf_counter() - began) * 1000))
    tab.context.close()
    return found


def measure(browser: Browser, messages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "m"
        place.mkdir()
        with bough.connect(place / "s.db") as store:
            fill(store, messages)
            store.index()
            path = store.session("cli:long").path()
            middle = path[len(path) // 2].id
        began = time.perf_counter()
        with serving(place) as served:
            listening = round((time.perf_counter() - began) * 1000)
            with served.client() as client:
                first_list = timed(lambda: client.get("/"))
                return {
                    "start → listening, ms": listening, "first list, ms": first_list,
                    "list": vitals(browser, served, "/"),
                    "conversation of 100": vitals(browser, served, "/c/cli:000001"),
                    "middle of 20,000": vitals(browser, served, f"/m/{middle}"),
                    "tree of 10,000": vitals(browser, served, "/t/cli:tree"),
                    "key → first hit, ms": typing(browser, served, "needle7"),
                    "other process → painted, ms": written_elsewhere(browser, served),
                    "answers, ms": {
                        address: [timed(lambda address=address: client.get(address)) for _ in range(5)]  # type: ignore[misc]
                        for address in ("/", "/c/cli:000001", f"/m/{middle}", "/t/cli:tree", "/stats")
                    },
                }  # fmt: skip


def weight() -> dict[str, int]:
    """Bytes of the scripts and the style sheet, compressed one by one."""
    from bough.server.page.document import MESSAGE_CSS, STATIC

    def packed(file: Path) -> int:
        return len(gzip.compress(file.read_bytes(), 5))

    return {
        "scripts": sum(map(packed, STATIC.glob("*.js"))),
        "style": packed(MESSAGE_CSS) + packed(STATIC / "page.css"),
    }


def pictures(browser: Browser, target: Path) -> None:
    """Pictures of the screens, in light and dark and on a phone."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "p"
        place.mkdir()
        with serving(place, *filled(place)) as served:
            for name, path, scheme, width in PICTURES:
                tab = Watched(browser, served, viewport={"width": width, "height": 800}, color_scheme=scheme)
                tab.goto(path).screenshot(path=target / f"{name}-{scheme}-{width}.jpg", type="jpeg", quality=60)
                tab.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    program, environment = chromium()
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--headless=shell"]
        browser = playwright.chromium.launch(executable_path=program, args=arguments, env={**environment})
        if options.pictures:
            pictures(browser, options.pictures)
        else:
            print(json.dumps({"bytes": weight(), **measure(browser, options.messages)}, indent=1, ensure_ascii=False))
        browser.close()


if __name__ == "__main__":
    main()
