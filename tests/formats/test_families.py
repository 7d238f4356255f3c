"""What is special to Ollama, Cohere and the Interactions API."""

from __future__ import annotations

from base64 import b64encode

import pytest

from bough import formats, tool_result, user
from bough.context.fit import fit
from bough.errors import FormatError
from bough.model import Json, Media, Message, Node, Other, Text, Thinking, ToolCall, assistant, tool_call

PNG = b"\x89PNG\r\n\x1a\n"


def decoded(name: str, payload: Json) -> tuple[Message, ...]:
    return formats.get(name).decode(payload).messages


def test_results_of_ollama_answer_the_calls_of_their_tool_in_any_order() -> None:
    calls: list[Json] = [{"function": {"name": name, "arguments": {}}} for name in ("look", "listen")]
    results = [{"role": "tool", "content": text, "tool_name": name} for name, text in (("listen", "b"), ("look", "a"))]
    message, answers = decoded("ollama", [{"role": "assistant", "content": "", "tool_calls": calls}, *results])
    answered = {call.call_id: call.name for call in message.calls}
    assert [(answered[result.call_id], result.text) for result in answers.results] == [("listen", "b"), ("look", "a")]


def test_a_call_of_ollama_without_an_id_is_answered_by_the_name_of_its_tool() -> None:
    wire = formats.get("ollama")
    reply = {"message": {"content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]}, "done": True}
    messages = wire.decode(reply).messages
    sent = wire.encode([user("hi"), *messages, tool_result(messages[0].calls[0].call_id, "rain")]).payload
    assert sent[2] == {"role": "tool", "content": "rain", "tool_name": "look"}


def test_a_call_of_another_provider_is_answered_by_its_id() -> None:
    dialog = [user("hi"), assistant(tool_call("c", "look", "{}")), tool_result("c", "rain")]
    sent = formats.get("ollama").encode(dialog).payload
    assert sent[1]["tool_calls"] == [{"id": "c", "type": "function", "function": {"name": "look", "arguments": {}}}]
    assert sent[2] == {"role": "tool", "content": "rain", "tool_name": "look", "tool_call_id": "c"}


def test_images_of_ollama_are_beside_the_content_and_keep_their_kind() -> None:
    jpeg = b64encode(b"\xff\xd8\xff\xe0").decode()
    (message,) = decoded("ollama", [{"role": "user", "content": "look", "images": [jpeg]}])
    assert [block.mime for block in message.blocks if isinstance(block, Media)] == ["image/jpeg"]
    url = Media("image", "", url="https://example.org/cat.png")
    encoded = formats.get("ollama").encode([user("see", Media("image", "image/png", data=PNG), url)])
    assert encoded.payload == [
        {
            "role": "user",
            "content": "see\n[image: https://example.org/cat.png]",
            "images": [b64encode(PNG).decode()],
        }
    ]
    assert [loss.code for loss in encoded.losses] == ["media_unsupported"]


def test_malformed_parts_of_a_reply_of_ollama_are_kept() -> None:
    wire = {"role": 1, "content": {"a": 1}, "thinking": "hm", "images": ["?"], "tool_calls": ["x", {"function": {}}]}
    (message,) = decoded("ollama", {"message": wire, "done": True})
    assert [type(block) for block in message.blocks] == [Thinking, Other, Other, Other, ToolCall]
    with pytest.raises(FormatError, match=r"messages\[0\]\.content should be a string"):
        decoded("ollama", [{"role": "user", "content": 1}])
    with pytest.raises(FormatError, match="the role 'wizard', which Ollama does not know"):
        decoded("ollama", [{"role": "wizard", "content": "hi"}])


def test_documents_in_a_result_of_cohere_are_its_text() -> None:
    document = {"type": "document", "document": {"data": {"sky": "rain"}}}
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    messages = decoded(
        "cohere",
        [{"role": "assistant", "tool_calls": calls}, {"role": "tool", "tool_call_id": "c", "content": [document]}],
    )
    assert messages[1].results[0].text == '{"sky": "rain"}'


def test_the_plan_of_cohere_is_reasoning_that_only_cohere_takes_back() -> None:
    reply: dict[str, Json] = {
        "message": {"role": "assistant", "tool_plan": "Look.", "content": [{"type": "text", "text": "So."}]}
    }
    (message,) = decoded("cohere", {**reply, "finish_reason": "COMPLETE"})
    assert isinstance(message.blocks[0], Thinking)
    assert formats.get("cohere").encode([message]).payload == [reply["message"]]
    assert "tool_plan" not in formats.get("openai.chat").encode([message]).payload[0]


def test_cohere_never_gets_an_empty_message() -> None:
    wire = formats.get("cohere")
    empty = {"message": {"role": "assistant", "content": []}, "finish_reason": "COMPLETE"}
    for reply in (wire.decode(empty).messages[0], Message("assistant", ()), assistant(" ")):
        nodes = [Node(f"n{at}", None, at, one) for at, one in enumerate((user("hi"), reply, user("so?")))]
        made = fit(nodes, "cohere", None)
        assert wire.check(made.payload) == []
        assert [loss.code for loss in made.losses] == ["blank_replaced"]


def test_chats_own_fields_do_not_reach_cohere_or_ollama() -> None:
    reply: Json = {"role": "assistant", "content": "a", "refusal": None, "reasoning_content": "hm", "logprobs": {}}
    (message,) = decoded("openai.chat", [reply])
    for name in ("cohere", "ollama"):
        encoded = formats.get(name).encode([user("hi"), message])
        assert encoded.payload[1] == {"role": "assistant", "content": "a"}
        assert [loss.code for loss in encoded.losses] == ["dropped_thinking"]


def test_an_output_of_several_contents_is_one_step_again_and_blocks_elsewhere() -> None:
    contents = [{"type": "text", "text": "look"}, {"type": "image", "mime_type": "image/png", "data": "iVBORw=="}]
    step = {"type": "model_output", "content": contents}
    (message,) = decoded("gemini.interactions", [step])
    assert [type(block) for block in message.blocks] == [Text, Media]
    assert formats.get("gemini.interactions").encode([message]).payload == [step]
    shorter = Message("assistant", message.blocks[1:])
    assert formats.get("gemini.interactions").encode([shorter]).payload == [{**step, "content": contents[1:]}]


@pytest.mark.parametrize(
    "given",
    ["hi", {"type": "text", "text": "hi"}, [{"type": "text", "text": "hi"}], [{"role": "user", "content": "hi"}]],
)
def test_an_input_may_be_a_string_a_content_contents_or_turns(given: Json) -> None:
    wire = formats.get("gemini.interactions")
    (message,) = wire.decode({"model": "m", "input": given}).messages
    assert (message.role, message.text) == ("user", "hi")
    assert wire.check({"model": "m", "input": given}) == []
    again = wire.encode([message]).payload
    assert again == given if isinstance(given, list) else wire.decode(again).messages[0].text == "hi"
    step = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}
    sent = wire.encode([message, assistant("yo")]).payload[0]
    assert sent in (step, {"role": "user", "content": "hi"})


def test_a_call_of_an_interaction_without_an_id_gets_one() -> None:
    wire = formats.get("gemini.interactions")
    reply = {"status": "requires_action", "steps": [{"type": "function_call", "name": "look", "arguments": {}}]}
    messages = wire.decode(reply).messages
    call_id = messages[0].calls[0].call_id
    dialog = wire.mend([user("hi"), *messages, tool_result(call_id, "rain")])
    assert [loss.code for loss in dialog.losses] == ["field_supplied"]
    sent = wire.encode(dialog.messages).payload
    assert sent[1]["id"] == sent[2]["call_id"] == call_id


def test_contents_of_the_first_version_of_interactions_are_outputs() -> None:
    events: list[Json] = [
        {"event_type": "interaction.start", "interaction": {"id": "v1", "status": "in_progress"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "a"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "b"}},
        {"event_type": "content.stop", "index": 0},
        {
            "event_type": "content.delta",
            "index": 1,
            "delta": {"type": "audio", "mime_type": "audio/wav", "data": "YQ=="},
        },
        {
            "event_type": "content.delta",
            "index": 1,
            "delta": {"type": "audio", "mime_type": "audio/wav", "data": "Yg=="},
        },
        {"event_type": "interaction.complete", "interaction": {"id": "v1", "status": "completed"}},
    ]
    stream = formats.get("gemini.interactions").accumulator()
    for event in events:
        stream.feed(event)
    (message,) = decoded("gemini.interactions", stream.reply())
    assert message.text == "ab"
    assert [block.data for block in message.blocks if isinstance(block, Media)] == [b"ab"]


def test_arguments_of_an_interaction_that_are_not_json_are_an_error() -> None:
    stream = formats.get("gemini.interactions").accumulator()
    stream.feed({"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "c", "name": "n"}})
    stream.feed({"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": "{"}})
    assert stream.reply()["steps"] == []
    with pytest.raises(FormatError, match="not JSON"):
        stream.feed({"event_type": "step.stop", "index": 0})
