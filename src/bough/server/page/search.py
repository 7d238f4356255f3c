"""`/search?q=`: messages with these words, by conversation; each hit opens its own branch."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal

from bough.exporters.html.blocks import text
from bough.model import Hit, Json
from bough.model.search import Facet, Query
from bough.model.search_query import parse_query
from bough.model.times import iso
from bough.server.page.html import SPEAKERS, chip, marked, message_link, moment, notice, program, session_link
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

PAGE = 50
COUNTED = 5_000
SHOWN = 4
"""Hits of one conversation that are shown at once."""
EXAMPLES = (
    ("oak girth", "both words, anywhere"), ('"ring width"', "these words in this order"), ("C++ -boost", "signs mean themselves; - excludes"),
    ("deploy*", "the beginning of a word"), ("role:user after:7d", "what you said in the last week"),
    ("model:claude* has:error", "replies with an error"), ("tool:bash project:garden", "commands run in a project"),
    ("cost:>0.5", "turns that cost more"), ("is:interrupted", "turns that were cut off"),
)  # fmt: skip
OPERATORS = (("role", "role"), ("channel", "source"), ("model", "model"), ("tool", "tool"), ("directory", "project"),
             ("label", "label"), ("has", "has"))  # fmt: skip
"""Facets, and the operators that filter by them."""


class SearchScreen:
    """A page of hits."""

    section: Section = "search"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.asked = asked
        self.typed = asked.get("q") or ""
        self.title = f"{self.typed} · Search" if self.typed else "Search"
        self.query = parse_query(self.typed)
        self.terms = tuple(term.text for term in self.query.terms if not term.excluded)
        self.is_blank = self.query == Query(notes=self.query.notes)
        order: Literal["newest", "best"] = "best" if asked.get("sort") == "best" else "newest"
        self.hits = (
            None
            if self.is_blank
            else store.search(self.query, order=order, limit=PAGE, cursor=asked.get("cursor"), index=False)
        )
        self.status = store.index_status()
        self.facets = None
        if self.hits is not None and self.status.waiting == 0 and asked.get("facets") != "no":
            self.facets = store.facets(self.query, most=COUNTED)
        sessions = {hit.session for hit in self.hits or () if hit.session}
        infos = [info for key in sorted(sessions) if (info := store.find_session(key)) is not None]
        self.previews = {one.info.key: one for one in store.previews(infos)}
        self.state: State = (
            "degraded" if self.status.waiting else "ready" if self.hits or self.is_blank else "no-results"
        )

    def main(self) -> str:
        return (
            f'<h1 class="quiet">Search</h1><form class="search" action="/search" role="search">'
            f'<input type="search" name="q" value="{text(self.typed)}" aria-label="Search all conversations" '
            f'placeholder="Words, “phrases”, role:user, model:, tool:, after:7d" autocomplete="off" id="q" dir="auto">'
            f"<button>Search</button></form>{self.results()}"
        )

    def results(self) -> str:
        """What follows the box."""
        if self.is_blank:
            rows = "".join(f'<li><a href="/search?q={quoted(words)}"><code>{text(words)}</code></a> {what}</li>'
                           for words, what in EXAMPLES)  # fmt: skip
            return f'<div id="results"><h2 class="day">You can write</h2><ul class="examples">{rows}</ul></div>'
        hits: list[Hit] = self.hits or []
        notes = "".join(f'<p class="hint-note">{text(note)}</p>' for note in self.query.notes)
        if self.hits is not None and self.hits.by_beginning and hits:
            notes += '<p class="hint-note">No message has all the words; these have words that begin with them.</p>'
        late = ""
        if self.status.waiting:
            late = notice("degraded", f"Indexing, {self.status.share:.0%} done",
                          f"<p>{self.status.waiting:,} messages are not searched yet. "
                          f'<a href="{text(self.asked.with_query())}">Search again</a></p>')  # fmt: skip
        if not hits:
            return f'<div id="results" aria-live="polite">{late}{notes}{self._nothing()}</div>'
        groups = "".join(self._group(key, list(found)) for key, found in groupby(hits, lambda hit: hit.session))
        more = ""
        if self.hits is not None and self.hits.next:
            more = (f'<p class="next"><a class="button" href="{text(self.asked.with_query(cursor=self.hits.next))}" data-next>'
                    "More</a></p>")  # fmt: skip
        count = f"{len(hits)}{'+' if self.hits is not None and self.hits.next else ''}"
        sort = self.asked.get("sort") == "best"
        order = chip("Newest first", self.asked.with_query(sort=None, cursor=None), on=not sort) + chip(
            "Best first", self.asked.with_query(sort="best", cursor=None), on=sort
        )
        return (f'<div id="results">{late}{notes}{self._facets()}<p class="count" role="status">{count} '
                f'message{"s" * (len(hits) != 1)} <span class="chips">{order}</span></p>{groups}{more}</div>')  # fmt: skip

    def _nothing(self) -> str:
        parts = self.typed.split()
        drops = "".join(
            f'<li><a class="chip" href="/search?q={quoted(" ".join(parts[:place] + parts[place + 1:]))}">without '
            f"<b>{text(word)}</b></a></li>"
            for place, word in enumerate(parts) if len(parts) > 1
        )  # fmt: skip
        return notice("no-results", f"No message has “{text(self.typed)}”",
                      f'<ul class="chips">{drops}<li><a class="chip" href="/search">Start again</a></li></ul>')  # fmt: skip

    def _group(self, key: str | None, hits: list[Hit]) -> str:
        preview = self.previews.get(key or "")
        name = " ".join(preview.title.split())[:120] if preview is not None and preview.title else key or "No session"
        where = f'<a href="{session_link(key)}">{text(name)}</a>' if key else text(name)
        facts = (
            ""
            if preview is None
            else text(
                " · ".join(
                    filter(None, [program(preview.info.channel), (preview.info.directory or "").rpartition("/")[2]])
                )
            )
        )
        first = "".join(map(self._hit, hits[:SHOWN]))
        rest = "" if len(hits) <= SHOWN else (
            f"<details><summary>{len(hits) - SHOWN} more here</summary><ul>{''.join(map(self._hit, hits[SHOWN:]))}</ul>"
            "</details>")  # fmt: skip
        return (f'<section class="group"><h2 dir="auto">{where} <small>{facts}</small></h2><ul>{first}</ul>{rest}'
                "</section>")  # fmt: skip

    def _hit(self, hit: Hit) -> str:
        snippet = " ".join(hit.snippet.split())
        return (
            f'<li class="hit"><a href="{text(message_link(hit.node.id, q=self.typed))}"><span class="who">'
            f'{SPEAKERS[hit.node.role]}</span> <span dir="auto">{marked(snippet, self.terms)}</span></a>'
            f'<p class="facts"><span class="id">{text(hit.node.id)}</span>{moment(hit.node.created_at)}</p></li>'
        )

    def _facets(self) -> str:
        if self.facets is None:
            return ""
        chips = []
        for field, operator in OPERATORS:
            found: tuple[Facet, ...] = getattr(self.facets, field)
            if getattr(self.query, field):
                continue
            for facet in [one for one in found if one.name][:3]:
                words = f'{operator}:"{facet.name}"' if " " in (facet.name or "") else f"{operator}:{facet.name}"
                chips.append(chip(words, f"/search?q={quoted(f'{self.typed} {words}')}", facet.messages))
        return f'<nav class="chips facets" aria-label="Narrow down">{"".join(chips)}</nav>'

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {
            "query": self.typed, "next": self.hits.next if self.hits is not None else None,
            "waiting": self.status.waiting, "notes": list(self.query.notes),
            "hits": [{"id": hit.node.id, "session": hit.session, "role": hit.node.role, "snippet": hit.snippet,
                      "created": iso(hit.node.created_at)} for hit in self.hits or ()],
        }  # fmt: skip

    def markdown(self) -> str:
        lines = [f"- `{hit.node.id}` {hit.node.role} in {hit.session}: {' '.join(hit.snippet.split())}"
                 for hit in self.hits or ()]  # fmt: skip
        return "\n".join([f"# Search: {self.typed}", "", *lines, ""])


def quoted(words: str) -> str:
    """Words in an address."""
    from urllib.parse import quote

    return quote(words, safe="")
