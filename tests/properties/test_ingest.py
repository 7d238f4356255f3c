"""A conversation imported in pieces, however it is cut, equals the conversation imported at once."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough import Store, Usage
from bough.model import Message, Role, Text
from bough.model.imported import Conversation, ImportedMessage

roles: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "assistant", "tool_result", "system"])
parents = st.integers(0, 3)
turn_ids = st.sampled_from([None, None, None, "t1", "t2"])
counts = st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9))


@st.composite
def imported_messages(draw: st.DrawFn) -> list[ImportedMessage]:
    """A tree of messages, parents first; most follow the one before them."""
    items: list[ImportedMessage] = []
    for number in range(draw(st.integers(1, 14))):
        back = draw(parents)
        parent = None if not items or (back == 3 and draw(st.booleans())) else items[max(0, number - 1 - back % 3)].id
        message = Message(draw(roles), (Text(f"said {number}"),))
        items.append(ImportedMessage(f"m{number}", message, parent, 1_700_000_000_000_001 + number, turn=draw(turn_ids),
                          usage=draw(counts), finished=draw(st.integers(0, 5)) > 0))  # fmt: skip
    return items


def bring(store: Store, items: list[ImportedMessage]) -> None:
    replies = [imported.id for imported in items if imported.message.role != "user"]
    store.bring_in(Conversation("elsewhere-app", "c", items, head=replies[-1] if replies else items[0].id))


def stored(store: Store) -> tuple[Any, ...]:
    """The content of the store, with ids of the source."""
    nodes = list(store.list_messages(ascending=True))
    name = {node.id: node.message.text for node in nodes} | {None: None}
    turns = {
        (name[turn.id], name[turn.parent_id], name[turn.last_id], turn.status, turn.usage, turn.context_tokens)
        for turn in store.list_turns()
    }
    places = {(name[node.id], name[node.parent_id], name[node.turn_id], node.created_at) for node in nodes}
    return places, turns, [name[info.head_id] for info in store.sessions()]


@given(imported_messages(), st.lists(st.integers(1, 14), max_size=5))
@settings(max_examples=150, deadline=None)
def test_pieces_make_the_same_whole(items: list[ImportedMessage], cuts: list[int]) -> None:
    with bough.connect(":memory:") as whole, bough.connect(":memory:") as pieces:
        bring(whole, items)
        for cut in sorted(cuts):
            bring(pieces, items[:cut])
        bring(pieces, items)
        assert stored(pieces) == stored(whole)
        assert pieces.verify() == []
