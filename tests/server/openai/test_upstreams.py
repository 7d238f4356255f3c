"""Responses in front of providers with each API: real HTTP servers, whole, slow, cut and malformed."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import Any

import openai
import pytest
from openresponses_types import ResponseResource

import bough
from tests.providers.servers import Server, drip, hold, status, stream, torn
from tests.providers.servers import serving as upstream
from tests.providers.wires import ANTHROPIC, ARGUMENTS, CHAT, RESPONSES, TEXT, WIRES, Wire
from tests.server.openai.conftest import official
from tests.server.serving import serving

every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.type)
TOOL: Any = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}


def config(server: Server, wire: Wire) -> str:
    return f'[providers.up]\nbase_url = "{server.address}/v1"\ntype = "{wire.type}"\napi_key = "sk-up-0123456789"\n'


@every_wire
@pytest.mark.parametrize("act", [stream, drip], ids=["at once", "byte by byte"])
def test_any_provider_gives_the_same_response(tmp_path: Path, wire: Wire, act: Any) -> None:
    with upstream(act(wire.events)) as server, serving(tmp_path, config=config(server, wire)) as api:
        client = official(api)
        with client.responses.stream(model="up:m-1", input="hi", tools=[TOOL], instructions="Be brief.") as made:
            events = list(made)
            final = made.get_final_response()
        assert final.output_text == TEXT
        (call,) = [item for item in final.output if item.type == "function_call"]
        assert (call.call_id, call.name, call.arguments.replace(" ", "")) == (
            "call_1",
            "look",
            ARGUMENTS.replace(" ", ""),
        )
        assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == TEXT
        assert final.usage is not None
        assert (final.usage.input_tokens, final.usage.output_tokens) == (11, 7)
        text = client.responses.with_raw_response.retrieve(final.id).text
        ResponseResource.model_validate_json(text)
        output: Any = {"type": "function_call_output", "call_id": "call_1", "output": "blue"}
        client.responses.create(model="up:m-1", input=[output], previous_response_id=final.id, tools=[TOOL])
        body = server.heard[1].body
        assert "previous_response_id" not in body
        assert body.get("store") is (False if wire is RESPONSES else None)
        sent = body["input"] if wire is RESPONSES else body["messages"]
        assert "blue" in str(sent)
        assert "call_1" in str(sent)
    with bough.connect(tmp_path / "s.db") as store:
        reply = next(node for node in store.list_messages(ascending=True) if node.role == "assistant")
        family = wire.format
        assert any(family in block.raw for block in reply.message.blocks)  # the provider's own is kept beside


@every_wire
def test_the_parameters_of_a_request_reach_any_provider(tmp_path: Path, wire: Wire) -> None:
    text: Any = {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}
    with upstream(stream(wire.events)) as server, serving(tmp_path, config=config(server, wire)) as api:
        picture = {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}
        question: Any = {"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, picture]}
        official(api).responses.create(
            model="up:m-1", input=[question], tools=[TOOL], tool_choice="required", temperature=0.5, text=text,
            max_output_tokens=99, instructions="Be brief.",
        )  # fmt: skip
        body = server.heard[0].body
    assert body["temperature"] == 0.5
    assert "aGk=" in str(body)
    assert "Be brief." in str(body)
    assert "'look'" in str(body["tools"])
    match wire.type:
        case "openai":
            assert (body["max_tokens"], body["tool_choice"]) == (99, "required")
            assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
        case "anthropic":
            assert (body["max_tokens"], body["tool_choice"]) == (99, {"type": "any"})
            assert body["output_config"]["format"]["schema"] == {"type": "object"}
        case _:
            assert (body["max_output_tokens"], body["tool_choice"], body["text"]) == (99, "required", text)


@every_wire
@pytest.mark.parametrize("cut", [torn, stream], ids=["in mid-chunk", "at its end"])
def test_a_cut_reply_fails_the_response_and_the_next_goes_on(tmp_path: Path, wire: Wire, cut: Any) -> None:
    answers = cut(wire.events[: wire.cut]), stream(wire.events)
    with upstream(*answers) as server, serving(tmp_path, config=config(server, wire)) as api:
        client = official(api)
        conversation = client.conversations.create()
        events = list(client.responses.create(model="up:m-1", input="hi", stream=True, conversation=conversation.id))
        assert events[-1].type == "response.failed"
        assert client.responses.retrieve(events[-1].response.id).status == "failed"
        done = client.responses.create(model="up:m-1", input="again", conversation=conversation.id)
        assert done.output_text == TEXT
        roles = [item.to_dict().get("role") for item in client.conversations.items.list(conversation.id, order="asc")]
        assert roles[0] == "user"
        assert "hi" not in str(server.heard[1].body)


@every_wire
def test_events_that_make_no_sense_are_an_error_and_not_a_hang(tmp_path: Path, wire: Wire) -> None:
    with upstream(stream(["{not json", "[]"])) as server, serving(tmp_path, config=config(server, wire)) as api:
        events = list(official(api).responses.create(model="up:m-1", input="hi", stream=True))
        assert events[-1].type == "response.failed"


@pytest.mark.parametrize(("code", "error"), [(401, openai.APIStatusError), (400, openai.BadRequestError),
                                             (404, openai.NotFoundError)])  # fmt: skip
def test_a_refusal_of_the_provider_is_that_of_the_request(tmp_path: Path, code: int, error: Any) -> None:
    refused = status(code, {"error": {"message": "no, never", "type": "x"}})
    with upstream(refused) as server, serving(tmp_path, config=config(server, CHAT)) as api:
        with pytest.raises(error, match="no, never"):
            official(api).responses.create(model="up:m-1", input="hi")
        assert len(server.heard) == 1


def test_a_client_that_leaves_stops_the_provider_and_the_turn_is_a_side_branch(tmp_path: Path) -> None:
    hung_up = Event()
    with (
        upstream(hold(CHAT.events[: CHAT.cut], hung_up)) as server,
        serving(tmp_path, config=config(server, CHAT)) as api,
    ):
        made = official(api).responses.create(model="up:m-1", input="hi", stream=True)
        first = next(iter(made)).to_dict()
        made.close()
        assert hung_up.wait(20)
        id = first["response"]["id"]  # type: ignore[index]
        until = time.monotonic() + 20
        while official(api).responses.retrieve(id).status == "in_progress" and time.monotonic() < until:
            time.sleep(0.05)
        assert official(api).responses.retrieve(id).status == "failed"
        with bough.connect(tmp_path / "s.db") as store:
            assert [turn.status for turn in store.turns()] == ["interrupted"]


def test_a_server_that_is_asked_to_stop_lets_responses_end(tmp_path: Path) -> None:
    from tests.server.openai.conftest import scripted

    with serving(tmp_path, config=scripted(tmp_path)) as api:
        made = official(api).responses.create(model="slow", input="hi", background=True)
        assert api.stop() == 0
    with serving(tmp_path, config=scripted(tmp_path)) as api:
        assert official(api).responses.retrieve(made.id).output_text == "a b c d e f g h i j"


def test_built_in_tools_are_refused_before_anything_is_stored(tmp_path: Path) -> None:
    with upstream(stream(ANTHROPIC.events)) as server, serving(tmp_path, config=config(server, ANTHROPIC)) as api:
        with pytest.raises(openai.BadRequestError, match="web_search"):
            official(api).responses.create(model="up:m-1", input="hi", tools=[{"type": "web_search"}])
        with bough.connect(tmp_path / "s.db") as store:
            assert list(store.list_messages()) == []
