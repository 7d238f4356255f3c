"""What compatible servers and SDKs do to a reply: empty ids, renamed fields, other orders; and looser requests."""

from __future__ import annotations

import json

import pytest

from bough import formats, tool_result, user
from bough.context.fit import fit
from bough.formats.types import Recipient
from bough.model import Json, Message, Node, Thinking

WIRES = [name for name in formats.names() if name != "bough.jsonl"]

WITHOUT_IDS: dict[str, Json] = {
    "openai.chat": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                }
            }
        ]
    },
    "openai.responses": {
        "object": "response",
        "output": [{"type": "function_call", "id": "fc_1", "call_id": "", "name": "f", "arguments": "{}"}],
    },
    "anthropic": {
        "type": "message",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "", "name": "f", "input": {}}],
    },
    "bedrock": {
        "output": {
            "message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "", "name": "f", "input": {}}}]}
        },
        "stopReason": "tool_use",
    },
    "gemini": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}}]},
    "gemini.interactions": {
        "status": "requires_action",
        "steps": [{"type": "function_call", "id": "", "name": "f", "arguments": {}}],
    },
    "cohere": {
        "finish_reason": "TOOL_CALL",
        "message": {"tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    },
    "ollama": {"done": True, "message": {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}},
    "qdeveloper": {
        "assistantResponseMessage": {"content": "", "toolUses": [{"toolUseId": "", "name": "f", "input": {}}]}
    },
}


def nodes_of(*messages: Message) -> list[Node]:
    return [Node(f"n{at}", f"n{at - 1}" if at else None, at, message) for at, message in enumerate(messages)]


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("target", WIRES)
def test_a_call_with_an_empty_id_is_answered_in_every_format_and_never_becomes_text(name: str, target: str) -> None:
    (reply,) = formats.get(name).decode(WITHOUT_IDS[name]).messages
    (call,) = reply.calls
    assert call.call_id
    made = fit(nodes_of(user("hi"), reply, tool_result(call.call_id, "42"), user("and?")), target)
    assert {loss.code for loss in made.losses} <= {"field_supplied", "blank_replaced"}
    assert formats.get(target).check(made.payload) == []
    assert "42" in json.dumps(made.payload)


@pytest.mark.parametrize("name", ["openai.responses", "anthropic", "bedrock", "qdeveloper", "gemini.interactions"])
def test_a_request_with_empty_ids_pairs_calls_and_results_and_comes_back_as_it_was(name: str) -> None:
    wire = formats.get(name)
    (reply,) = wire.decode(WITHOUT_IDS[name]).messages
    dialog = [user("hi"), reply, tool_result(reply.calls[0].call_id, "42")]
    payload = json.loads(json.dumps(wire.encode(dialog).payload).replace(reply.calls[0].call_id, ""))
    asked, called, answered = wire.decode(payload).messages
    assert called.calls[0].call_id == answered.results[0].call_id != ""
    assert wire.encode([asked, called, answered]).payload == payload
    made = fit(nodes_of(asked, called, answered, user("so?")), name)
    assert {loss.code for loss in made.losses} <= {"field_supplied"}


def test_fields_that_sdks_rename_for_python_have_their_wire_names() -> None:
    from openai.types.chat import ChatCompletion
    from openai.types.responses import ResponseFunctionToolCall

    call = ResponseFunctionToolCall.model_validate(
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "async": True}
    )
    assert call.async_ is True
    assert formats.get("openai.responses").encode(formats.get("openai.responses").decode([call]).messages).payload == [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "async": True}
    ]
    plain = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    reply = {
        **plain,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a"}}],
    }
    assert formats.get("openai.chat").decode(ChatCompletion.model_validate(reply)) == formats.get("openai.chat").decode(
        reply
    )


def test_googles_sdk_is_read_with_its_wire_names() -> None:
    from google.genai.types import GenerateContentResponse

    part = {"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
    reply = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    (message,) = formats.get("gemini").decode(GenerateContentResponse.model_validate(reply)).messages
    assert formats.get("gemini").encode([message]).payload == [{"role": "model", "parts": [part]}]


@pytest.mark.parametrize("order", [("reasoning", "content"), ("content", "reasoning"), ("tool_plan", "content")])
def test_reasoning_fields_come_back_whatever_their_place_in_the_message(order: tuple[str, str]) -> None:
    wire = formats.get("openai.chat")
    message = {"role": "assistant", **dict.fromkeys(order, "a"), "reasoning_content": "b"}
    assert wire.encode(wire.decode([message]).messages).payload == [message]
    both = {"reasoning_content": "b", "reasoning": "a", "content": "c", "role": "assistant"}
    decoded = wire.decode([both]).messages
    assert wire.encode(decoded).payload == [both]
    assert sorted(block.text for block in decoded[0].blocks if isinstance(block, Thinking)) == ["a", "b"]


SIGNED = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}
UNSIGNED = {"functionCall": {"name": "f", "args": {}}}
ANSWERED = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]}
ASKED = {"role": "user", "parts": [{"text": "hi"}]}


def test_gemini_2_5_takes_an_unsigned_call_after_a_signed_one_and_gemini_3_gets_a_placeholder() -> None:
    wire = formats.get("gemini")
    contents = [ASKED, {"role": "model", "parts": [SIGNED]}, ANSWERED, {"role": "model", "parts": [UNSIGNED]}, ANSWERED]
    assert wire.check(contents, "gemini-2.5-flash") == []
    assert [one.rule for one in wire.check(contents, "gemini-3-pro")] == [12]
    nodes = nodes_of(*wire.decode(contents).messages)
    older = fit(nodes, "gemini", target=Recipient("gemini-2.5-flash"))
    newer = fit(nodes, "gemini", target=Recipient("gemini-3-pro"))
    assert (older.payload, older.losses) == (contents, ())
    assert {loss.code for loss in newer.losses} == {"field_supplied"}
    assert wire.check(newer.payload, "gemini-3-pro") == []


def test_gemini_takes_two_contents_of_the_user_in_a_row_and_results_in_two() -> None:
    wire = formats.get("gemini")
    calls = {"role": "model", "parts": [UNSIGNED, {"functionCall": {"name": "g", "args": {}}}]}
    other = {"role": "user", "parts": [{"functionResponse": {"name": "g", "response": {"output": "2"}}}]}
    contents = [ASKED, ASKED, calls, ANSWERED, other]
    assert wire.check(contents) == []
    assert wire.encode(wire.decode(contents).messages).payload == contents


@pytest.mark.parametrize("name", ["openai.responses", "gemini.interactions"])
def test_an_input_that_is_a_string_breaks_no_rule(name: str) -> None:
    request = {"model": "m", "input": "hi"}
    assert formats.get(name).check(request) == []
    (message,) = formats.get(name).decode(request).messages
    assert (message.role, message.text) == ("user", "hi")
