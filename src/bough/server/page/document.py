"""The document around a screen: head, bar, panels."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from bough.exporters.html.blocks import text
from bough.model import Json
from bough.server.page.html import notice
from bough.server.page.look import Look
from bough.server.page.screen import Screen, ScreenRequest, Section, State

STATIC = Path(__file__).parent / "static"
MESSAGE_CSS = Path(__file__).parents[2] / "exporters" / "html" / "message.css"
SECTIONS = (
    ("list", "/", "Conversations"), ("live", "/live", "Live"), ("stats", "/stats", "Stats"),
    ("import", "/import", "Import"), ("trash", "/trash", "Trash"), ("settings", "/settings", "Settings"),
)  # fmt: skip


@cache
def version() -> str:
    """A digest of the style sheet and the scripts, for their addresses."""
    made = hashlib.sha256(MESSAGE_CSS.read_bytes())
    for file in sorted(STATIC.iterdir()):
        if file.suffix in (".css", ".js"):
            made.update(file.read_bytes())
    return made.hexdigest()[:10]


def document(screen: Screen, asked: ScreenRequest, look: Look, cursor: int, undo: str = "") -> str:
    """A screen as a whole document."""
    aside = screen.aside()
    panel = f'<aside class="panel-right" aria-label="About this conversation">{aside}</aside>' if aside else ""
    return (
        f'<!doctype html><html lang="en" {look.attributes()}><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{text(screen.title)} · bough</title>"
        f'<link rel="stylesheet" href="/static/page/{version()}/page.css">'
        f'<link rel="icon" href="/static/page/{version()}/icon.svg" type="image/svg+xml">'
        f'<script type="module" src="/static/page/{version()}/app.js"></script></head>'
        f'<body data-cursor="{cursor}"><a class="skip" href="#main">To the content</a>{bar(screen, asked)}'
        f'<div class="shell{" with-panel" if aside else ""}"><main id="main" data-state="{screen.state}" tabindex="-1">'
        f'{screen.main()}</main>{panel}</div>{bottom(screen)}<div id="toasts" role="status" aria-live="polite">{undo}</div>'
        "</body></html>"
    )


def bar(screen: Screen, asked: ScreenRequest) -> str:
    """The bar at the top: the way to every section, and the search box."""
    links = "".join(
        f'<a href="{address}"{" aria-current=page" if screen.section == section else ""}>{name}</a>'
        for section, address, name in SECTIONS
    )
    box = (
        ""
        if screen.section == "search"
        else (
            '<form class="find" action="/search" role="search"><input type="search" name="q" placeholder="Search" '
            f'aria-label="Search all conversations" value="{text(asked.query.get("q", ""))}"><kbd aria-hidden="true">/</kbd></form>'
        )
    )
    new = '<a class="button new" href="/new">New</a>' if asked.can_run else ""
    return (f'<header class="bar"><a class="logo" href="/" aria-label="bough, all conversations">bough</a>{box}'
            f'<nav aria-label="Sections">{links}</nav>{new}</header>')  # fmt: skip


def bottom(screen: Screen) -> str:
    """The bar at the bottom of a narrow window."""
    items = (
        ("list", "/", "List"),
        ("search", "/search", "Search"),
        ("other", "/new", "New"),
        ("more", "/settings", "More"),
    )
    return '<nav class="bottom" aria-label="Main">' + "".join(
        f'<a href="{address}"{" aria-current=page" if screen.section == section else ""}>{name}</a>'
        for section, address, name in items
    ) + "</nav>"  # fmt: skip


class ProblemScreen:
    """What went wrong, why, and what to do."""

    section: Section = "other"
    state: State = "degraded"

    def __init__(self, status: int, code: str, detail: str, request_id: str, more: str = "") -> None:
        self.title = code.replace("-", " ").capitalize()
        self.status, self.code, self.detail, self.request_id, self.more = status, code, detail, request_id, more

    def main(self) -> str:
        return notice("degraded", text(self.title), f"<p>{text(self.detail)}</p>{self.more}<p class='hint'>Request "
                      f'{text(self.request_id)}</p><p><a class="button" href="/">All conversations</a></p>', level=1)  # fmt: skip

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"status": self.status, "code": self.code, "detail": self.detail, "request_id": self.request_id}

    def markdown(self) -> str:
        return f"# {self.title}\n\n{self.detail}\n"
