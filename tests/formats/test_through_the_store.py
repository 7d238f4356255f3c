"""The same losslessness with the store in between: what came in one family goes back to it unchanged."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Message, Save, Store, formats
from bough.model import Json
from tests.formats.format_corpus import golden, sent

WIRES = [name for name in formats.names() if name != "bough.jsonl"]
REQUESTS = golden("request", *WIRES)
REPLIES = golden("reply", *WIRES)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "formats.db") as opened:
        yield opened


def kept(store: Store, messages: tuple[Message, ...]) -> list[Message]:
    """The messages, after they were stored and loaded."""
    saves: list[Save] = []
    for message in messages:
        saves.append(Save(message, saves[-1] if saves else None))
    return [node.message for node in store.path(store.save_messages(saves)[-1])]


@pytest.mark.parametrize(("name", "payload"), REQUESTS)
def test_a_request_comes_back_from_the_store_as_it_was(store: Store, name: str, payload: Json) -> None:
    wire = formats.get(name)
    messages = kept(store, wire.decode(payload).messages)
    assert wire.encode(messages).payload == sent(name, payload)
    assert store.verify() == []


@pytest.mark.parametrize(("name", "payload"), REQUESTS)
@pytest.mark.parametrize("other", WIRES)
def test_going_to_another_provider_and_back_loses_nothing(store: Store, name: str, payload: Json, other: str) -> None:
    wire = formats.get(name)
    messages = kept(store, wire.decode(payload).messages)
    formats.get(other).encode(messages)
    assert wire.encode(messages).payload == sent(name, payload)


@pytest.mark.parametrize(("name", "reply"), REPLIES)
def test_a_reply_added_to_a_turn_is_what_the_next_request_sends(store: Store, name: str, reply: Json) -> None:
    wire = formats.get(name)
    expected = wire.encode(wire.decode(reply).messages).payload
    session = store.session(name)
    with session.turn("a question") as turn:
        turn.add(reply)
    loaded = [node.message for node in session.path()][1:]
    assert wire.encode(loaded).payload == expected
    around = loaded[0].envelope if loaded else turn.info.metadata
    assert around["reply"] == wire.decode(reply).provenance.envelope
    assert turn.info.provider == wire.decode(reply).provenance.provider


def test_a_picture_is_stored_once_as_bytes_and_comes_back_as_the_same_base64(store: Store) -> None:
    picture = b64encode(bytes(range(256)) * 800).decode()
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    payload = [{"role": "user", "content": [block, {"type": "text", "text": "what is this?"}]}] * 3
    wire = formats.get("anthropic")
    messages = kept(store, wire.decode(payload).messages)
    assert wire.encode(messages).payload == payload
    ((_, refs, _),) = store.db.rows("blob_counts")
    assert refs == 3
    stored = sum(len(text or "") for row in store.db.rows("page_up", 0, 10, 0) for text in row if isinstance(text, str))
    assert stored < 3_000
