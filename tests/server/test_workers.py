"""Several servers on one PostgreSQL database are one; the namespaces in it are apart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import openai
import pytest

import bough
from bough.server.access import tokens
from tests.server.openai.conftest import official, scripted
from tests.server.serving import Serving, serving


@pytest.fixture
def both(postgres: str, tmp_path: Path) -> Iterator[tuple[Serving, Serving]]:
    db = f"{postgres}?namespace=both-{uuid4()}"
    with serving(tmp_path / "a", db=db, config=scripted(tmp_path / "a")) as one:
        with serving(tmp_path / "b", db=db, config=scripted(tmp_path / "b")) as other:
            yield one, other


def test_a_response_of_one_server_is_followed_cancelled_and_continued_at_another(both: tuple[Serving, Serving]) -> None:
    one, other = map(official, both)
    made = one.responses.create(model="slow", input="go", background=True, stream=True)
    first = [next(iter(made)) for _ in range(4)]
    id = first[0].to_dict()["response"]["id"]  # type: ignore[index]
    assert other.responses.retrieve(id).status == "in_progress"
    rest = list(other.responses.retrieve(id, stream=True, starting_after=3))
    assert [event.to_dict() for event in rest] == [event.to_dict() for event in made]
    assert other.responses.create(input="on", previous_response_id=id).status == "completed"
    cancelled = one.responses.create(model="slow", input="go", background=True)
    time.sleep(0.2)
    assert other.responses.cancel(cancelled.id).status in ("cancelled", "completed")


def test_a_conversation_has_one_writer_across_servers(both: tuple[Serving, Serving]) -> None:
    one, other = map(official, both)
    made = one.conversations.create()
    one.responses.create(model="slow", input="go", background=True, conversation=made.id)
    with pytest.raises(openai.BadRequestError) as caught:
        other.responses.create(input="too", conversation=made.id)
    assert caught.value.code == "conversation_locked"


def test_a_response_of_a_server_that_was_killed_fails_at_another(both: tuple[Serving, Serving]) -> None:
    one, other = map(official, both)
    made = one.responses.create(model="slow", input="go", background=True)
    both[0].process.kill()
    both[0].process.wait()
    assert other.responses.retrieve(made.id).status == "failed"


def test_nothing_of_another_namespace_is_found(postgres: str, tmp_path: Path) -> None:
    home = f"home-{uuid4()}"
    with serving(tmp_path, db=f"{postgres}?namespace={home}", config=scripted(tmp_path)) as api:
        with bough.connect(postgres, namespace=home) as store:
            keys = [tokens.create(store, name, ["read", "write", "run"], tenant=f"{name}-{home}")[1] for name in "ab"]
        mine, theirs = (openai.OpenAI(base_url=f"{api.url}/v1", api_key=key, max_retries=0) for key in keys)
        response = mine.responses.create(input="secret")
        conversation = mine.conversations.create(items=[{"type": "message", "role": "user", "content": "secret"}])
        (item,) = mine.conversations.items.list(conversation.id)
        completion = mine.chat.completions.create(model="m", messages=[{"role": "user", "content": "s"}], store=True)
        assert mine.responses.retrieve(response.id).output_text == "one"
        reaching: list[Any] = [
            lambda: theirs.responses.retrieve(response.id),
            lambda: theirs.responses.delete(response.id),
            lambda: theirs.responses.cancel(response.id),
            lambda: theirs.responses.input_items.list(response.id),
            lambda: theirs.conversations.retrieve(conversation.id),
            lambda: theirs.conversations.update(conversation.id, metadata={}),
            lambda: theirs.conversations.delete(conversation.id),
            lambda: theirs.conversations.items.list(conversation.id),
            lambda: theirs.conversations.items.retrieve(item.id or "", conversation_id=conversation.id),
            lambda: theirs.conversations.items.delete(item.id or "", conversation_id=conversation.id),
            lambda: theirs.responses.create(input="x", conversation=conversation.id),
            lambda: theirs.chat.completions.retrieve(completion.id),
            lambda: theirs.chat.completions.update(completion.id, metadata={}),
            lambda: theirs.chat.completions.delete(completion.id),
            lambda: theirs.chat.completions.messages.list(completion.id),
        ]
        for reach in reaching:
            with pytest.raises(openai.NotFoundError):
                reach()
        with pytest.raises(openai.BadRequestError):
            theirs.responses.create(input="x", previous_response_id=response.id)
        assert list(theirs.chat.completions.list()) == []
        assert mine.conversations.retrieve(conversation.id).id == conversation.id


def test_models_are_only_run_by_tokens_that_may(tmp_path: Path) -> None:
    with serving(tmp_path, config=scripted(tmp_path)) as api:
        with bough.connect(tmp_path / "s.db") as store:
            _, writer = tokens.create(store, "writer", ["read", "write"])
        client = openai.OpenAI(base_url=f"{api.url}/v1", api_key=writer, max_retries=0)
        client.conversations.create()
        for run in (lambda: client.responses.create(input="x"),
                    lambda: client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}]),
                    lambda: client.responses.compact(model="m", input="x")):  # fmt: skip
            with pytest.raises(openai.PermissionDeniedError, match="run"):
                run()
