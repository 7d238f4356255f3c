"""Dialects: what one server of the Chat family sends, and another one would refuse."""

from __future__ import annotations

import pytest

from bough import assistant, tool_result, user
from bough.context.fit import fit
from bough.errors import FormatError
from bough.formats import get
from bough.formats.servers import SERVERS, server, server_at
from bough.formats.types import Recipient
from bough.model import Json, Media, Message, Node, system, tool_call


def sent_to(name: str, *messages: Message) -> tuple[list[Json], set[str]]:
    nodes = [Node(f"n{at}", f"n{at - 1}" if at else None, at, message) for at, message in enumerate(messages)]
    made = fit(nodes, "openai.chat", target=Recipient(server=server(name)))
    return made.payload, {loss.code for loss in made.losses}


def replied(**fields: Json) -> Message:
    (message,) = get("openai.chat").decode({"choices": [{"message": {"role": "assistant", **fields}}]}).messages
    return message


def test_reasoning_goes_back_only_to_servers_that_take_its_field() -> None:
    reply = replied(content="a", reasoning_content="hm")
    assert sent_to("groq", user("hi"), reply, user("and?")) == (
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "and?"}],
        {"dropped_thinking"},
    )
    payload, losses = sent_to("moonshot", user("hi"), reply, user("and?"))
    assert payload[1] == {"role": "assistant", "content": "a", "reasoning_content": "hm"}
    assert losses == set()


def test_details_of_reasoning_go_back_to_openrouter_alone() -> None:
    reply = replied(content="a", reasoning_details=[{"type": "reasoning.text", "text": "hm"}])
    assert "reasoning_details" in sent_to("openrouter", user("hi"), reply)[0][1]
    assert "reasoning_details" not in sent_to("xai", user("hi"), reply)[0][1]


def test_deepseek_gets_its_reasoning_back_beside_calls_only() -> None:
    call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    calling = replied(content="", reasoning_content="hm", tool_calls=[call])
    payload, _ = sent_to(
        "deepseek", user("hi"), calling, tool_result("t", "3"), replied(content="a", reasoning_content="so")
    )
    assert [message.get("reasoning_content") for message in payload] == [None, "hm", None, None]


def test_ids_for_mistral_differ_where_the_stored_ones_do() -> None:
    # Of these, the second has the id that is derived from the first, and the third is sent as it is.
    first = "call_of_another_server"
    derived = sent_to("mistral", *calling(first))[0][1]["tool_calls"][0]["id"]
    payload, _ = sent_to("mistral", *calling(first, derived, "abcdefgh9"))
    ids = [call["id"] for call in payload[1]["tool_calls"]]
    assert [message["tool_call_id"] for message in payload[2:5]] == ids
    assert (ids[0], ids[2], len(set(ids))) == (derived, "abcdefgh9", 3)
    assert [len(call_id) for call_id in ids] == [9, 9, 9]


def calling(*ids: str) -> list[Message]:
    results = [result for call_id in ids for result in tool_result(call_id, call_id).blocks]
    return [
        user("hi"),
        assistant(*(tool_call(call_id, "f", "{}") for call_id in ids)),
        Message("tool_result", tuple(results)),
    ]


def test_mistral_gets_a_reply_between_results_and_the_user() -> None:
    dialog = [*calling("abcdefgh9"), user("stop"), assistant("ok"), user("go")]
    payload, losses = sent_to("mistral", *dialog)
    assert [message["role"] for message in payload] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert payload[3] == {"role": "assistant", "content": "(empty)"}
    assert losses == {"blank_replaced"}
    assert [message["role"] for message in sent_to("groq", *dialog)[0]][2:4] == ["tool", "user"]
    assert sent_to("mistral", *dialog[:4])[0] == payload[:5]


def test_images_of_a_reply_are_media_and_are_not_sent_back() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    reply = replied(content="a cat", images=[image, image])
    assert [block.mime for block in reply.blocks if isinstance(block, Media)] == ["image/png", "image/png"]
    assert get("openai.chat").encode([reply]).payload == [
        {"role": "assistant", "content": "a cat", "images": [image, image]}
    ]
    payload, losses = sent_to("openrouter", user("hi"), reply, user("and?"))
    assert (payload[1], losses) == ({"role": "assistant", "content": "a cat"}, {"reply_only_field"})
    shown = get("gemini").encode([user("hi"), reply]).payload[1]["parts"]
    assert [next(iter(part)) for part in shown] == ["text", "inlineData", "inlineData"]


def test_parts_of_reasoning_stay_with_mistral() -> None:
    reply = replied(
        content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]
    )
    assert len(sent_to("mistral", user("hi"), reply)[0][1]["content"]) == 2
    assert sent_to("openai", user("hi"), reply)[0][1]["content"] == [{"type": "text", "text": "a"}]


def test_mistral_gets_ids_of_nine_characters_that_differ_as_before() -> None:
    calls = assistant(tool_call("call_1", "f"), tool_call("call_2", "f"))
    payload, losses = sent_to("mistral", user("hi"), calls, tool_result("call_1", "a"), tool_result("call_2", "b"))
    ids = [call["id"] for call in payload[1]["tool_calls"]]
    assert [len(one) for one in ids] == [9, 9]
    assert ids == [payload[2]["tool_call_id"], payload[3]["tool_call_id"]]
    assert len(set(ids)) == 2
    assert losses == set()


def test_a_system_message_in_mid_conversation_is_the_users_where_it_must_be_first() -> None:
    dialog = (user("hi"), assistant("a"), system("hurry"), user("and?"))
    assert sent_to("mistral", *dialog)[1] == {"system_as_user"}
    assert sent_to("openai", *dialog)[1] == set()


def test_an_empty_reply_has_words_where_the_empty_string_is_refused() -> None:
    reply = replied(content=None)
    assert sent_to("openai", user("hi"), reply, user("and?"))[0][1]["content"] == ""
    assert sent_to("moonshot", user("hi"), reply, user("and?"))[0][1]["content"] == "(empty)"


@pytest.mark.parametrize("name", SERVERS)
def test_what_any_server_sends_is_accepted_from_any(name: str) -> None:
    reply = replied(content="a", reasoning="r", reasoning_content="c", reasoning_details=[{"type": "x"}])
    payload, _ = sent_to(name, user("hi"), reply, user("and?"))
    assert get("openai.chat").check(payload) == []
    assert payload[1]["content"] == "a"


def test_a_server_is_known_by_its_address() -> None:
    assert server_at("https://api.groq.com/openai/v1") is SERVERS["groq"]
    assert server_at("https://mine.openai.azure.com/openai") is SERVERS["azure"]
    assert server_at("https://evilapi.groq.com.example.org/v1") is None


def test_an_unknown_dialect_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(FormatError, match="There is no dialect 'groc'; there are openai, azure"):
        server("groc")
