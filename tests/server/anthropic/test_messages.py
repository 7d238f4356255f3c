"""Anthropic's Messages, as the official client sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

import bough
from tests.server.openai.conftest import scripted
from tests.server.serving import Serving, serving


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    directory = tmp_path_factory.mktemp("messages")
    with serving(directory, config=scripted(directory)) as running:
        yield running


@pytest.fixture
def client(api: Serving) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=api.url, api_key=api.token, max_retries=0) as made:
        yield made


def said(*texts: str) -> list[Any]:
    return [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]


def test_a_dialog_is_answered_and_kept(api: Serving, client: anthropic.Anthropic) -> None:
    made = client.messages.create(model="m", max_tokens=100, system="Be brief.", messages=said("hello"))
    assert (made.content[0].type, made.stop_reason, made.type) == ("text", "end_turn", "message")
    client.messages.create(model="m", max_tokens=100, system="Be long.", messages=said("hello", "one", "on"))
    with bough.connect(str(api.db)) as store:
        (session,) = store.sessions(channel="anthropic")
        path = store.session(session.key).path()
        assert [node.message.text for node in path] == ["hello", "one", "on", "two"]
        assert session.key == f"anthropic:{path[0].id}"


def test_a_stream_has_blocks_as_the_helper_requires(client: anthropic.Anthropic) -> None:
    with client.messages.stream(model="tools", max_tokens=100, messages=said("look")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert (text, final.stop_reason) == ("I look.", "tool_use")
    assert [block.type for block in final.content] == ["thinking", "text", "tool_use"]
    call = final.content[-1]
    assert call.type == "tool_use"
    assert call.input == {"at": "sea"}
    result: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "blue"}]}
    again: list[Any] = [*said("look"), {"role": "assistant", "content": [b.to_dict() for b in final.content]}, result]
    done = client.messages.create(model="tools", max_tokens=100, messages=again)
    assert done.content[0].to_dict()["text"] == "It is blue."


def test_errors_are_in_the_envelope_of_this_api(client: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.RateLimitError, match="too many"):
        client.messages.create(model="broken", max_tokens=9, messages=said("x"))
    with pytest.raises(anthropic.BadRequestError, match="at least one"):
        client.messages.create(model="m", max_tokens=9, messages=[])
    with anthropic.Anthropic(base_url=str(client.base_url), api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(anthropic.AuthenticationError):
            stranger.messages.create(model="m", max_tokens=9, messages=said("x"))
    with pytest.raises(anthropic.APIStatusError, match="cuts the reply"):
        with client.messages.stream(model="cut", max_tokens=9, messages=said("x")) as stream:
            stream.until_done()


def test_tokens_are_estimated(client: anthropic.Anthropic) -> None:
    small = client.messages.count_tokens(model="m", messages=said("hello"))
    assert 0 < small.input_tokens < client.messages.count_tokens(model="m", messages=said("hello " * 99)).input_tokens
