"""From one provider to another: valid, with every loss named, and stable as the dialog grows."""

from __future__ import annotations

import re
from itertools import accumulate, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import formats
from bough.errors import FormatError
from bough.formats.tool_ids import ToolIds, fit
from bough.model import (
    Json,
    Media,
    Message,
    Text,
    Thinking,
    ToolResult,
    assistant,
    system,
    tool_call,
    tool_result,
    user,
)
from tests.formats.format_corpus import golden, one
from tests.formats.format_dialogs import broken_dialogs, dialogs, flat

WIRE = [name for name in formats.names() if name != "bough.jsonl"]
PAIRS = list(product(WIRE, WIRE))


def as_read_by(name: str, messages: list[Message]) -> list[Message]:
    """The dialog as it looks when it came over this provider's wire."""
    format_ = formats.get(name)
    return list(format_.decode(format_.encode(messages).payload).messages)


def sequence(name: str, payload: Json) -> list[Json]:
    """What has to be a stable prefix: the list, and for Q Developer its history with the current input."""
    if name != "qdeveloper":
        return list(payload)
    current = payload.get("currentMessage")
    return [*payload["history"], *([current] if current else [])]


@pytest.mark.parametrize("target", WIRE)
@given(dialog=dialogs)
@settings(max_examples=50, deadline=None)
def test_every_well_formed_dialog_is_accepted(target: str, dialog: list[list[Message]]) -> None:
    format_ = formats.get(target)
    assert format_.check(format_.encode(flat(dialog)).payload) == []


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(dialog=dialogs)
@settings(max_examples=6, deadline=None)
def test_what_came_from_one_provider_is_accepted_by_another(
    source: str, target: str, dialog: list[list[Message]]
) -> None:
    format_ = formats.get(target)
    assert format_.check(format_.encode(as_read_by(source, flat(dialog))).payload) == []


@pytest.mark.parametrize("target", WIRE)
@given(dialog=dialogs, data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_dialog_of_several_providers_is_accepted(
    target: str, dialog: list[list[Message]], data: st.DataObject
) -> None:
    format_ = formats.get(target)
    mixed = [as_read_by(data.draw(st.sampled_from(WIRE)), turn) for turn in dialog]
    assert format_.check(format_.encode(flat(mixed)).payload) == []


@pytest.mark.parametrize("target", WIRE)
@given(dialog=dialogs, data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_longer_dialog_begins_with_the_shorter_one(
    target: str, dialog: list[list[Message]], data: st.DataObject
) -> None:
    format_ = formats.get(target)
    mixed = [as_read_by(name, turn) if (name := data.draw(st.sampled_from(["", *WIRE]))) else turn for turn in dialog]
    whole = sequence(target, format_.encode(flat(mixed)).payload)
    for end in accumulate(len(turn) for turn in mixed):
        part = sequence(target, format_.encode(flat(mixed)[:end]).payload)
        assert whole[: len(part)] == part


@pytest.mark.soak
@given(dialog=dialogs, data=st.data())
@settings(max_examples=5000, deadline=None)
def test_a_dialog_that_came_through_many_hands_is_accepted_by_all(
    dialog: list[list[Message]], data: st.DataObject
) -> None:
    hands = st.lists(st.sampled_from(WIRE), max_size=3)
    for name in data.draw(hands):
        dialog = [as_read_by(name, turn) if data.draw(st.booleans()) else turn for turn in dialog]
    for target in WIRE:
        format_ = formats.get(target)
        payload = format_.encode(flat(dialog)).payload
        assert format_.check(payload) == []
        assert format_.encode(format_.decode(payload).messages, strict=True).payload == payload


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(dialog=dialogs)
@settings(max_examples=3, deadline=None)
def test_there_and_back_through_the_kept_messages_is_the_original(
    source: str, target: str, dialog: list[list[Message]]
) -> None:
    """Converting reads the messages and changes nothing in them."""
    first = formats.get(source)
    payload = first.encode(flat(dialog)).payload
    messages = first.decode(payload).messages
    formats.get(target).encode(messages)
    assert first.encode(messages, strict=True).payload == payload


@pytest.mark.parametrize("target", formats.names())
@given(messages=broken_dialogs)
@settings(max_examples=40, deadline=None)
def test_a_broken_dialog_is_written_as_well_as_can_be(target: str, messages: list[Message]) -> None:
    """Mending it is the context's work; here nothing may fail, and what was written can be read."""
    format_ = formats.get(target)
    payload = format_.encode(messages).payload
    format_.check(payload)
    assert format_.encode(format_.decode(payload).messages).payload == payload


@pytest.mark.parametrize("target", WIRE)
@pytest.mark.parametrize(("source", "payload"), golden("request"))
def test_strict_raises_exactly_when_something_is_lost(source: str, payload: Json, target: str) -> None:
    messages = formats.get(source).decode(payload).messages
    format_ = formats.get(target)
    losses = format_.encode(messages).losses
    if not losses:
        format_.encode(messages, strict=True)
        return
    with pytest.raises(FormatError, match=losses[0].code):
        format_.encode(messages, strict=True)


def codes(target: str, *messages: Message) -> list[str]:
    return [loss.code for loss in formats.get(target).encode(messages).losses]


def test_another_models_reasoning_is_dropped_and_named() -> None:
    for target in WIRE:
        assert codes(target, user("hi"), assistant(Thinking("hm"), "hello")) == ["dropped_thinking"]


def test_a_failed_result_is_flagged_where_there_is_a_flag_and_said_where_there_is_none() -> None:
    dialog = (
        user("hi"),
        assistant(tool_call("c", "now")),
        tool_result("c", "no clock", error=True),
        assistant("sorry"),
    )
    assert {target: codes(target, *dialog) for target in WIRE} == {
        "openai.chat": ["error_flag_prefixed"],
        "openai.responses": ["error_flag_prefixed"],
        "anthropic": [],
        "bedrock": [],
        "gemini": [],
        "gemini.interactions": [],
        "cohere": ["error_flag_prefixed"],
        "ollama": ["error_flag_prefixed"],
        "qdeveloper": [],
    }
    assert formats.get("openai.chat").encode(dialog).payload[2]["content"] == "Error: no clock"


def test_an_image_in_a_result_is_described_where_it_cannot_be_shown() -> None:
    image = Media("image", "image/png", data=b"png", name="cat.png")
    dialog = (user("hi"), assistant(tool_call("c", "look")), tool_result("c", ["seen", image]), assistant("a cat"))
    flattened = {target for target in WIRE if codes(target, *dialog)}
    assert flattened == {"openai.chat", "cohere", "ollama", "qdeveloper"}
    assert codes("openai.chat", *dialog) == ["tool_image_flattened"]
    assert formats.get("openai.chat").encode(dialog).payload[2]["content"] == "seen\n[image image/png: cat.png]"


def test_words_after_a_call_move_before_it_where_calls_come_last() -> None:
    dialog = (user("hi"), assistant(tool_call("c", "now"), "wait"), tool_result("c", "12"), assistant("noon"))
    flattened = {target for target in WIRE if "order_flattened" in codes(target, *dialog)}
    assert flattened == {"openai.chat", "cohere", "ollama", "qdeveloper"}


def test_citations_signatures_and_cache_markers_of_another_family_are_named() -> None:
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}, "citations": [{"type": "x"}]}
    message = Message(
        "assistant", (Text("hi", raw={"anthropic": marked}), Text("so", raw={"gemini": {"thoughtSignature": "x"}}))
    )
    for target in ("openai.chat", "openai.responses", "bedrock", "qdeveloper"):
        assert codes(target, user("hi"), message) == ["dropped_citations", "dropped_cache_marker", "dropped_signature"]


def test_citations_beside_the_content_are_named() -> None:
    cited = one("cohere", "reply-cited")
    messages = formats.get("cohere").decode(cited).messages
    for target in WIRE:
        expected = set() if target == "cohere" else {"dropped_citations", "dropped_thinking"}
        assert set(codes(target, user("hi"), *messages)) == expected, target


def test_a_loss_says_where_it_happened() -> None:
    loss = formats.get("openai.chat").encode([user("hi"), assistant("so", Thinking("hm"))]).losses[0]
    assert (loss.code, loss.message, loss.block) == ("dropped_thinking", 1, 1)


def test_an_empty_input_is_present_left_out_or_replaced_as_the_provider_wants() -> None:
    dialog = (user("hi"), assistant("hello"), user(""), assistant("more"))
    contents = {target: sequence(target, formats.get(target).encode(dialog).payload) for target in WIRE}
    assert contents["openai.chat"][2] == {"role": "user", "content": ""}
    assert contents["openai.responses"][2] == {"role": "user", "content": ""}
    assert [message["role"] for message in contents["anthropic"]] == ["user", "assistant", "assistant"]
    assert contents["bedrock"][2] == {"role": "user", "content": [{"text": "(empty)"}]}
    assert contents["gemini"][2] == {"role": "user", "parts": [{"text": "(empty)"}]}
    assert contents["qdeveloper"][2] == {"userInputMessage": {"content": ""}}


def test_q_developer_gets_an_empty_input_for_an_answer_without_one() -> None:
    payload = formats.get("qdeveloper").encode([assistant("hello"), assistant("again"), user("hi")]).payload
    assert [next(iter(item)) for item in payload["history"]] == ["userInputMessage", "assistantResponseMessage"] * 2
    assert payload["history"][0] == {"userInputMessage": {"content": ""}}
    assert payload["currentMessage"] == {"userInputMessage": {"content": "hi"}}


def test_a_note_in_mid_conversation_keeps_its_role_where_there_is_one() -> None:
    dialog = (user("hi"), assistant("hello"), system("hurry"), user("so?"))
    roles = {
        target: [item.get("role") for item in sequence(target, formats.get(target).encode(dialog).payload)]
        for target in WIRE
    }
    assert roles["openai.chat"] == ["user", "assistant", "system", "user"]
    assert roles["openai.responses"] == ["user", "assistant", "developer", "user"]
    assert roles["anthropic"] == roles["bedrock"] == ["user", "assistant", "system", "user"]
    assert roles["gemini"] == ["user", "model", "user"]
    assert codes("gemini", *dialog) == codes("qdeveloper", *dialog) == ["system_as_user"]


def test_results_of_one_step_stand_in_one_message_of_the_user() -> None:
    results = Message("tool_result", (ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),))))
    dialog = (user("hi"), assistant(tool_call("a", "x"), tool_call("b", "y")), results, user("and?"))
    for target in ("anthropic", "bedrock", "gemini"):
        assert len(formats.get(target).encode(dialog).payload) == 3


def test_a_foreign_call_to_gemini_is_marked_as_not_its_own_and_only_once() -> None:
    results = Message("tool_result", (ToolResult("a"), ToolResult("b")))
    dialog = (user("hi"), assistant(tool_call("a", "x"), tool_call("b", "y")), results)
    parts = formats.get("gemini").encode(dialog).payload[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == ["skip_thought_signature_validator", None]


@pytest.mark.parametrize(
    ("target", "pattern"), [("anthropic", r"[a-zA-Z0-9_-]+"), ("bedrock", r"[a-zA-Z0-9_.:-]{1,64}")]
)
@given(dialog=dialogs)
@settings(max_examples=30, deadline=None)
def test_tool_ids_fit_the_target_and_stay_apart(target: str, pattern: str, dialog: list[list[Message]]) -> None:
    messages = flat(dialog)
    written = as_read_by(target, messages)
    given_ids = [call.call_id for message in messages for call in message.calls]
    ids = [call.call_id for message in written for call in message.calls]
    assert len(ids) == len(given_ids)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(pattern, call_id) for call_id in ids)


@given(st.sets(st.text(min_size=1, max_size=80), max_size=8))
def test_two_ids_never_become_one(texts: set[str]) -> None:
    assert len({fit(text, "a-zA-Z0-9_-", 64) for text in texts}) == len(texts)
    derived = {fit(text, "a-zA-Z0-9_-", 64) for text in texts}
    assert len({fit(text, "a-zA-Z0-9_-", 64) for text in texts | derived}) == len(texts | derived)


def test_an_id_that_a_provider_uses_again_gets_another_one() -> None:
    ids = ToolIds("a-z", 64)
    first = ids.call("toolcall")
    assert ids.result("toolcall") == first == "toolcall"
    second = ids.call("toolcall")
    assert second != first
    assert ids.result("toolcall") == second


def test_a_document_for_bedrock_has_words_beside_it() -> None:
    document = Media("document", "application/pdf", data=b"%PDF", name="a_b.pdf")
    content = formats.get("bedrock").encode([user(document)]).payload[0]["content"]
    assert content[0]["document"]["name"] == "a b pdf"
    assert content[0]["document"]["source"] == {"bytes": b"%PDF"}
    assert content[1] == {"text": "[document: a b pdf]"}
