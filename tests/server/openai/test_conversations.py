"""Conversations and models, as the official client sees them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from tests.server.openai.conftest import SCRIPTS, official
from tests.server.serving import Serving


def said(text: str, role: str = "user") -> Any:
    return {"type": "message", "role": role, "content": text}


def ids(client: openai.OpenAI, conversation: str, **page: Any) -> list[str]:
    return [item.id or "" for item in client.conversations.items.list(conversation, **page)]


def test_a_conversation_is_created_changed_and_deleted(client: openai.OpenAI) -> None:
    made = client.conversations.create(metadata={"a": "b"})
    assert client.conversations.retrieve(made.id) == made
    assert client.conversations.update(made.id, metadata={"c": "d"}).metadata == {"c": "d"}
    deleted = client.conversations.delete(made.id)
    assert (deleted.id, deleted.deleted, deleted.object) == (made.id, True, "conversation.deleted")
    for gone in (lambda: client.conversations.retrieve(made.id), lambda: client.conversations.delete(made.id),
                 lambda: client.conversations.items.list(made.id),
                 lambda: client.conversations.update(made.id, metadata={}),
                 lambda: client.responses.create(input="x", conversation=made.id)):  # fmt: skip
        with pytest.raises(openai.NotFoundError):
            gone()


def test_items_come_back_in_pages_in_both_orders(client: openai.OpenAI) -> None:
    made = client.conversations.create(items=[said("1"), said("2", "assistant")])
    added = client.conversations.items.create(made.id, items=[said("3"), {"type": "strange", "odd": [1]}, said("5")])  # type: ignore[list-item]
    forth = ids(client, made.id, order="asc", limit=2)
    assert len(set(forth)) == 5
    assert forth[2:] == [item.id for item in added.data]
    assert ids(client, made.id, limit=1) == ids(client, made.id) == forth[::-1]
    assert ids(client, made.id, order="asc", after=forth[3]) == forth[4:]
    page = client.conversations.items.list(made.id, limit=2)
    assert (page.has_more, page.last_id, page.to_dict(warnings=False)["first_id"]) == (True, forth[3], forth[4])
    strange = client.conversations.items.retrieve(forth[3], conversation_id=made.id).to_dict(warnings=False)
    assert strange == {"type": "strange", "odd": [1], "id": forth[3]}


def test_a_deleted_item_is_out_of_the_conversation_and_in_a_branch(api: Serving, client: openai.OpenAI) -> None:
    made = client.conversations.create(items=[said("keep"), said("wrong", "assistant"), said("on")])
    first, wrong, last = ids(client, made.id, order="asc")
    assert client.conversations.items.delete(wrong, conversation_id=made.id).id == made.id
    assert ids(client, made.id, order="asc") == [first, last]
    client.conversations.items.delete(last, conversation_id=made.id)
    assert ids(client, made.id, order="asc") == [first]
    with pytest.raises(openai.NotFoundError):
        client.conversations.items.delete(wrong, conversation_id=made.id)
    import bough

    with bough.connect(str(api.db)) as store:
        assert any(node.message.text == "wrong" for node in store.list_messages())


def test_a_response_adds_its_input_and_output_to_its_conversation(client: openai.OpenAI) -> None:
    made = client.conversations.create(items=[said("before")])
    response = client.responses.create(model="tools", input="look", conversation=made.id)
    assert response.conversation is not None
    assert response.conversation.id == made.id
    kinds = [item.type for item in client.conversations.items.list(made.id, order="asc")]
    assert kinds == ["message", "message", "reasoning", "message", "function_call"]
    aside = client.responses.create(input="aside", previous_response_id=response.id)
    assert aside.conversation is None
    assert len(ids(client, made.id)) == 5


def test_eight_clients_on_one_conversation_lose_and_mix_nothing(api: Serving, client: openai.OpenAI) -> None:
    made = client.conversations.create()

    def talk(name: int) -> int:
        """Says three things, each until the conversation is free."""
        own, locked = official(api), 0
        for place in range(3):
            while True:
                try:
                    own.responses.create(input=f"{name}.{place}", conversation=made.id)
                    break
                except openai.BadRequestError as busy:
                    if busy.code != "conversation_locked":
                        raise
                    locked += 1
                    threading.Event().wait(0.02)
        return locked

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(talk, range(8)))
    items = list(client.conversations.items.list(made.id, order="asc", limit=100))
    roles = [item.to_dict()["role"] for item in items]
    assert roles == ["user", "assistant"] * 24
    words = [item.to_dict()["content"][0]["text"] for item in items[::2]]  # type: ignore[index]
    assert sorted(words) == sorted(f"{name}.{place}" for name in range(8) for place in range(3))
    for name in range(8):
        own = [word for word in words if word.startswith(f"{name}.")]
        assert own == sorted(own)


def test_limits_of_items_and_metadata(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="At most 20"):
        client.conversations.create(items=[said("x")] * 21)
    with pytest.raises(openai.BadRequestError, match="16 pairs"):
        client.conversations.create(metadata={str(n): "x" for n in range(17)})
    made = client.conversations.create()
    with pytest.raises(openai.BadRequestError, match="limit"):
        client.conversations.items.list(made.id, limit=101)
    with pytest.raises(openai.BadRequestError, match="no item"):
        client.conversations.items.list(made.id, after="msg_none")


def test_the_models_are_the_aliases_and_the_default(client: openai.OpenAI) -> None:
    listed = [model.id for model in client.models.list()]
    assert set(SCRIPTS) <= set(listed)
    assert client.models.retrieve("slow").owned_by == "scripted"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("none")
