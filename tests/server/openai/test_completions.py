"""Chat Completions, as the official client sees them."""

from __future__ import annotations

from typing import Any

import openai
import pytest

import bough
from tests.server.serving import Serving


def said(*texts: str) -> list[Any]:
    """A dialog: the user, the assistant, and so on."""
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def test_a_completion_without_store_is_answered_and_not_kept(api: Serving, client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="m", messages=said("not kept, walrus"))
    assert made.choices[0].message.content == "one"
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.retrieve(made.id)
    with bough.connect(str(api.db)) as store:
        assert not list(store.search("walrus"))


def test_a_stored_completion_is_found_changed_and_deleted(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="m", messages=said("stored"), store=True, metadata={"a": "b"})
    found = client.chat.completions.retrieve(made.id)
    assert found.choices == made.choices
    assert (found.id, found.model, found.created, found.to_dict()["metadata"]) == (
        made.id, "m", made.created, {"a": "b"})  # fmt: skip
    changed = client.chat.completions.update(made.id, metadata={"c": "d"})
    assert changed.to_dict()["metadata"] == {"c": "d"}
    assert [item.content for item in client.chat.completions.messages.list(made.id)] == ["stored"]
    assert client.chat.completions.delete(made.id).deleted
    for gone in (client.chat.completions.retrieve, client.chat.completions.delete):
        with pytest.raises(openai.NotFoundError):
            gone(made.id)


def test_stored_completions_are_listed_by_model_and_metadata(client: openai.OpenAI) -> None:
    made = [client.chat.completions.create(model="m", messages=said(f"list {n}"), store=True,
                                           metadata={"list": "x", "n": str(n)}).id for n in range(3)]  # fmt: skip
    pages: Any = {"metadata": {"list": "x"}, "limit": 2}
    assert [one.id for one in client.chat.completions.list(**pages)] == made
    assert [one.id for one in client.chat.completions.list(order="desc", **pages)] == made[::-1]
    assert [one.id for one in client.chat.completions.list(metadata={"list": "x", "n": "1"})] == [made[1]]
    assert list(client.chat.completions.list(model="none")) == []


def test_a_dialog_that_grows_is_stored_once_and_as_a_branch_where_it_differs(
    api: Serving, client: openai.OpenAI
) -> None:
    system: list[Any] = [{"role": "system", "content": "Today is Monday."}]
    client.chat.completions.create(model="m", messages=[*system, *said("grow")], store=True)
    system[0]["content"] = "Today is Tuesday."
    client.chat.completions.create(model="m", messages=[*system, *said("grow", "one", "on")], store=True)
    client.chat.completions.create(model="m", messages=[*system, *said("grow", "one", "off")], store=True)
    with bough.connect(str(api.db)) as store:
        (first,) = [node for node in store.list_messages() if node.message.text == "grow"]
        session = store.session(f"openai:{first.id}")
        assert [node.message.text for node in session.path()] == ["grow", "one", "off", "two"]
        assert len(store.forest(first.id)[0].children[0].children) == 2
        assert len(session.turns()) == 3


def test_a_stream_has_chunks_and_is_stored_under_its_id(client: openai.OpenAI) -> None:
    usage: Any = {"include_usage": True}
    chunks = list(client.chat.completions.create(model="tools", messages=said("look"), store=True, stream=True,
                                                 stream_options=usage))  # fmt: skip
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "I look."
    calls = [call for c in chunks if c.choices for call in c.choices[0].delta.tool_calls or ()]
    assert "".join((call.function and call.function.arguments) or "" for call in calls) == '{"at": "sea"}'
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 5
    (id,) = {chunk.id for chunk in chunks}
    found = client.chat.completions.retrieve(id)
    assert found.choices[0].finish_reason == "tool_calls"
    assert found.choices[0].message.tool_calls is not None
    answer = {"role": "tool", "tool_call_id": found.choices[0].message.tool_calls[0].id, "content": "blue"}
    # As most clients send it back: without the reasoning.
    calls_made = [call.to_dict() for call in found.choices[0].message.tool_calls]
    message = {"role": "assistant", "content": "I look.", "tool_calls": calls_made}
    dialog: list[Any] = [*said("look"), message, answer]
    done = client.chat.completions.create(model="tools", messages=dialog, store=True)
    assert done.choices[0].message.content == "It is blue."
    assert [item.role for item in client.chat.completions.messages.list(done.id)] == ["user", "assistant", "tool"]


def test_the_same_reply_twice_is_two_completions(client: openai.OpenAI) -> None:
    first, second = (client.chat.completions.create(model="m", messages=said("twice"), store=True) for _ in range(2))
    assert first.id != second.id
    assert client.chat.completions.retrieve(first.id).choices == client.chat.completions.retrieve(second.id).choices


def test_an_error_of_the_provider_is_that_of_the_request(client: openai.OpenAI) -> None:
    for stream in (False, True):
        with pytest.raises(openai.RateLimitError, match="too many"):
            client.chat.completions.create(model="broken", messages=said("x"), stream=stream)
    with pytest.raises(openai.APIError, match="cuts the reply"):
        list(client.chat.completions.create(model="cut", messages=said("x"), stream=True))
    for wrong in ([], [{"role": "nobody", "content": "x"}]):
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="m", messages=wrong)  # type: ignore[arg-type]


def test_instructions_alone_are_a_dialog(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="m", messages=[{"role": "system", "content": "Go."}], store=True)
    assert client.chat.completions.retrieve(made.id).choices[0].message.content == "one"
