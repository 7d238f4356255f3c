"""`/diff/A...B`: two branches side by side, from where they part, with the words that differ."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.exporters.headings import displayable
from bough.exporters.html.blocks import text
from bough.model import Json, Node, TurnInfo
from bough.model.differences import Words, differences
from bough.server.page.html import facts_line, message_link, moment, notice, plural, tokens
from bough.server.page.message import data, who
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store


class CompareScreen:
    """Two dialogs. Messages stand beside one another in their order."""

    title = "Compare"
    section: Section = "list"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        a, dots, b = asked.path.partition("...")
        if not dots:
            raise NotFound(f"{asked.path!r} names no two messages; the address is /diff/A...B.")
        self.asked = asked
        self.ids = [end_of(store, name) for name in (a, b)]
        self.found = store.compare(*self.ids)
        turns = sorted({node.turn_id for node in (*self.found.a, *self.found.b) if node.turn_id is not None})
        self.turns: dict[str, TurnInfo] = {turn.id: turn for turn in store.list_turns(turns)} if turns else {}
        self.state: State = "ready" if self.found.a or self.found.b else "empty"

    def main(self) -> str:
        a, b = self.ids
        common = self.found.common
        where = "Nothing in common" if not common else (
            f'{plural(len(common), "message")} in common, up to <a href="{message_link(common[-1].id)}">'
            f"{text(common[-1].id)}</a>")  # fmt: skip
        swap = f'<a class="chip" id="swap" href="/diff/{text(b)}...{text(a)}">Swap sides</a>'
        heading = (f'<header class="title"><h1>Two branches</h1><p class="facts"><span>{where}</span></p>'
                   f'<nav class="chips" aria-label="View">{swap}</nav></header>')  # fmt: skip
        if self.state == "empty":
            return heading + notice("empty", "These are the same")
        head = "".join(self._column_head(side, nodes) for side, nodes in (("a", self.found.a), ("b", self.found.b)))
        rows = "".join(self._row(one, other) for one, other in zip_longest(self.found.a, self.found.b))
        return f'{heading}<div class="compare"><div class="pair heads">{head}</div>{rows}</div>'

    def _column_head(self, side: str, nodes: tuple[Node, ...]) -> str:
        id = self.ids[0] if side == "a" else self.ids[1]
        turns = {node.turn_id for node in nodes}
        usage = [turn.usage for turn in self.turns.values() if turn.id in turns]
        models = sorted({turn.model for turn in self.turns.values() if turn.id in turns and turn.model})
        facts = [plural(len(nodes), "message"), *models, tokens(sum(usage[1:], usage[0])) if usage else ""]
        return (f'<div class="side {side}"><h2>{"−" if side == "a" else "+"} <a href="{message_link(id)}">{text(id)}</a>'
                f'</h2><p class="facts">{facts_line(facts)}</p></div>')  # fmt: skip

    def _row(self, one: Node | None, other: Node | None) -> str:
        pair = differences(plain(one), plain(other)) if one and other else (
            [(plain(one), False)], [(plain(other), False)])  # fmt: skip
        differs = one is None or other is None or any(flag for side in pair for _, flag in side)
        cells = "".join(
            f'<div class="side {side}">{self._message(node, words, tag)}</div>'
            for side, node, words, tag in (("a", one, pair[0], "del"), ("b", other, pair[1], "ins"))
        )
        return f'<section class="pair{" differs" if differs else ""}" tabindex="-1">{cells}</section>'

    def _message(self, node: Node | None, words: Words, tag: str) -> str:
        if node is None:
            return ""
        turn = self.turns.get(node.turn_id or "")
        model = turn.model if turn is not None and node.role == "assistant" else None
        return (f'<p class="facts"><b>{who(node)}</b>{facts_line([model or ""])}{moment(node.created_at)}'
                f'<a class="id" href="{message_link(node.id)}">{text(node.id)}</a></p>'
                f'<div class="words" dir="auto">{emphasized(words, tag)}</div>')  # fmt: skip

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        def side(nodes: tuple[Node, ...]) -> Json:
            return [data(node, self.turns.get(node.turn_id or "")) for node in nodes]

        return {"common": [node.id for node in self.found.common], "a": side(self.found.a), "b": side(self.found.b)}

    def markdown(self) -> str:
        parts = [f"# {self.ids[0]} and {self.ids[1]}", f"{len(self.found.common)} messages in common."]
        for id, nodes in zip(self.ids, (self.found.a, self.found.b), strict=True):
            parts += [f"## {id}", *(f"**{who(node)}** `{node.id}`\n\n{plain(node)}" for node in nodes)]
        return "\n\n".join(parts) + "\n"


def end_of(store: Store, name: str) -> str:
    """The message that an id, the beginning of one, or a session means. Raises `NotFound` and `Ambiguous`."""
    session = store.find_session(name)
    id = (session.head_id if session is not None else None) or store.find_id(name)
    if id is None:
        raise NotFound(f"There is no message or session {name!r}.")
    return id


def plain(node: Node | None) -> str:
    """The text of a message; calls and results by their names."""
    if node is None:
        return ""
    calls = [f"→ {call.name} {call.arguments}" for call in node.message.calls]
    results = [f"← {result.text}" for result in node.message.results]
    return displayable("\n".join(filter(None, [node.message.text, *calls, *results])))


def emphasized(words: Words, tag: str) -> str:
    """Words as HTML; runs of marked ones in one element."""
    parts: list[str] = []
    is_open = False
    for place, (word, flag) in enumerate(words):
        # A space between two marked words belongs to them.
        near = word.isspace() and is_open and place + 1 < len(words) and words[place + 1][1]
        marks = (flag and not word.isspace()) or near
        if marks != is_open:
            parts.append(f"<{tag}>" if marks else f"</{tag}>")
            is_open = marks
        parts.append(text(word))
    return "".join(parts) + (f"</{tag}>" if is_open else "")
