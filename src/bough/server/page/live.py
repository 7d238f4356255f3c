"""`/live`: turns that are being written now, and those that were cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.exporters.html.blocks import text
from bough.model import Json, TurnInfo
from bough.model.times import iso
from bough.server.page.html import button, message_link, moment, notice, status
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

MOST = 50


class LiveScreen:
    """Turns that have not ended well."""

    title = "Live"
    section: Section = "live"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.can_run = asked.can_run
        self.running = store.turns(status="running", limit=MOST)
        self.broken = [turn for name in ("interrupted", "failed") for turn in store.turns(status=name, limit=20)]
        ids = [turn.last_id for turn in (*self.running, *self.broken)]
        self.words = {line.id: line.words for line in store.headlines(ids)} if ids else {}
        self.state: State = "ready" if self.running else "empty"

    def main(self) -> str:
        now = "".join(self._row(turn, "stop", "Stop") for turn in self.running)
        current = (
            f'<ul class="rows with-buttons">{now}</ul>'
            if now
            else notice(
                "empty",
                "Nothing is running",
                "<p>Turns appear here while they are written, by any program on this store.</p>",
            )
        )
        old = "".join(self._row(turn, "resume", "Take it up") for turn in self.broken)
        cut = f'<h2 class="day">Cut off</h2><ul class="rows with-buttons">{old}</ul>' if old else ""
        return f'<header class="title"><h1>Live</h1></header><div id="live">{current}{cut}</div>'

    def _row(self, turn: TurnInfo, verb: str, label: str) -> str:
        words = " ".join(self.words.get(turn.last_id, "").split())[:140]
        return (
            f'<li class="row"><a href="{message_link(turn.last_id)}"><strong>{text(turn.session or "No session")}</strong>'
            f'<span class="last" dir="auto">{text(words)}</span></a><p class="facts">{status(turn.status)}'
            f"<span>{text(turn.model or '')}</span>{f'<span>{text(turn.error)}</span>' if turn.error else ''}"
            f'<span class="when">{moment(turn.started_at)}</span></p>'
            f"{button(verb, label, id=turn.id) if self.can_run else ''}</li>"
        )

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        def one(turn: TurnInfo) -> Json:
            return {
                "id": turn.id,
                "session": turn.session,
                "status": turn.status,
                "model": turn.model,
                "started": iso(turn.started_at),
                "words": self.words.get(turn.last_id),
            }

        return {"running": [one(turn) for turn in self.running], "broken": [one(turn) for turn in self.broken]}

    def markdown(self) -> str:
        lines = [f"- `{turn.id}` {turn.status} in {turn.session}" for turn in (*self.running, *self.broken)]
        return "\n".join(["# Live", "", *lines, ""])
