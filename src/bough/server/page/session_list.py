"""`/`: the conversations, the one used last first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bough.exporters.html.blocks import text
from bough.model import Json
from bough.model.previews import SessionPreview
from bough.model.times import iso
from bough.server.page.html import chip, day_of, notice, program, session_row, title_of
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

PAGE = 100
COUNTED = 1_000
"""Messages that are counted for the filters: the newest ones."""
MOST_CHIPS = 8


class ListScreen:
    """A page of the list, with filters."""

    title = "Conversations"
    section: Section = "list"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.asked = asked
        before = asked.get("before")
        filters: dict[str, Any] = {
            "channel": asked.get("source"), "directory": asked.get("project"), "label": asked.get("label"),
            "pinned": asked.get("pinned") is not None, "as_of": asked.as_of,
            "delegates": asked.get("subagents") is not None,
        }  # fmt: skip
        infos = store.sessions(limit=PAGE + 1, before=int(before) if before and before.isdecimal() else None, **filters)
        self.next = infos[PAGE - 1].cursor if len(infos) > PAGE else None
        self.previews = store.previews(infos[:PAGE])
        self.facets = store.facets(most=COUNTED) if self.previews else None
        self.is_filtered = any(asked.get(name) for name in ("source", "project", "label", "pinned", "at"))
        self.state: State = "ready" if self.previews else "no-results" if self.is_filtered else "empty"

    def main(self) -> str:
        if self.state == "empty":
            return f"<h1>Conversations</h1>{FIRST_RUN}"
        return f"<h1>Conversations</h1>{self._chips()}{self._rows()}"

    def _chips(self) -> str:
        asked, chips = self.asked, []
        if self.facets is not None:
            for name, facets in (("source", self.facets.channel), ("project", self.facets.directory)):
                for facet in [one for one in facets if one.name][:MOST_CHIPS]:
                    on = asked.get(name) == facet.name
                    label = (
                        program(facet.name) if name == "source" else (facet.name or "").rstrip("/").rpartition("/")[2]
                    )
                    link = asked.with_query(**{name: None if on else facet.name}, before=None)
                    chips.append(chip(label or facet.name or "", link or "/", facet.sessions, on=on))
        for name, label in (("pinned", "Pinned"), ("subagents", "With subagents")):
            on = asked.get(name) is not None
            chips.append(chip(label, asked.with_query(**{name: None if on else "1"}, before=None) or "/", on=on))
        return f'<nav class="chips" aria-label="Filters">{"".join(chips)}</nav>'

    def _rows(self) -> str:
        if not self.previews:
            return notice("no-results", "No conversation is like this",
                          '<p><a class="button" href="/">Show all conversations</a></p>')  # fmt: skip
        parts, day = [], None
        for one in self.previews:
            if (own := day_of(one.info.updated_at)) != day:
                parts.append(f'{"</ul>" if day else ""}<h2 class="day">{text(own)}</h2><ul class="rows">')
                day = own
            parts.append(session_row(one, selectable=True))
        more = "" if self.next is None else (
            f'<p class="next"><a class="button" href="{text(self.asked.with_query(before=str(self.next)))}" data-next>'
            "Earlier conversations</a></p>")  # fmt: skip
        return (f'<form class="list" id="list" method="post" action="/do/selected">{"".join(parts)}</ul>'
                '<div class="selected" role="group" aria-label="With the selected conversations">'
                '<button name="verb" value="compare">Compare two</button>'
                f'<button name="verb" value="trash">Move to trash</button></div></form>{more}')  # fmt: skip

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"sessions": [preview_json(one) for one in self.previews], "next": self.next}

    def markdown(self) -> str:
        lines = [f"- [{title_of(one)}](/c/{one.info.key}) · {program(one.info.channel)} · {one.messages} messages"
                 f" · {(iso(one.info.updated_at) or '')[:16]}" for one in self.previews]  # fmt: skip
        return "\n".join(["# Conversations", "", *lines, ""])


def preview_json(one: SessionPreview) -> dict[str, Json]:
    """A row of the list as JSON."""
    info = one.info
    return {
        "key": info.key, "title": one.title, "head": info.head_id, "channel": info.channel,
        "directory": info.directory, "model": one.model, "messages": one.messages, "turns": one.turns,
        "branches": one.branches, "delegates": one.delegates, "status": one.status, "cost": one.usage.cost,
        "input_tokens": one.usage.input_tokens, "output_tokens": one.usage.output_tokens,
        "pinned": info.pinned_at is not None, "updated": iso(info.updated_at), "created": iso(info.created_at),
    }  # fmt: skip


FIRST_RUN = notice(
    "empty",
    "Nothing is stored yet",
    "<p>Bring in what you have said to other programs, or begin here.</p>"
    '<pre class="code"><code>bough import --discover</code></pre>'
    '<pre class="code"><code>bough run "How old can an oak become?"</code></pre>'
    '<pre class="code"><code>bough serve --open</code></pre>'
    '<p><a class="button primary" href="/import">Import a file</a> <a class="button" href="/new">New conversation</a></p>',
)
