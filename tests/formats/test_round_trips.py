"""What came in comes out: the same JSON, for the same format."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import formats
from bough.errors import FormatError
from bough.formats.openai_responses.encode import as_input
from bough.model import Json, Message, ToolCall
from tests.formats.format_corpus import golden, one, sent
from tests.formats.format_dialogs import damaged, dialogs, flat

WIRE = [name for name in formats.names() if name != "bough.jsonl"]


@pytest.mark.parametrize(("name", "payload"), golden("request"))
def test_a_request_comes_back_as_it_was(name: str, payload: Json) -> None:
    format_ = formats.get(name)
    encoded = format_.encode(format_.decode(payload).messages, strict=True)
    assert encoded.payload == sent(name, payload)


def reply_as_sent(name: str, reply: Json) -> list[Json]:
    """What an application appends to its next request, by each provider's own manual."""
    match name:
        case "openai.chat":
            return [reply["choices"][0]["message"]]
        case "openai.responses":
            return [as_input(item) for item in reply["output"]]
        case "anthropic":
            return [{"role": "assistant", "content": reply["content"]}]
        case "bedrock":
            return [reply["output"]["message"]]
        case "ollama" | "cohere":
            return [reply["message"]]
        case "gemini.interactions":
            outputs = [{"type": "model_output", "content": [one]} for one in reply.get("outputs", [])]
            return reply.get("steps") or outputs
        case "gemini":
            return [candidate["content"] for candidate in reply.get("candidates", [])]
    return [{"assistantResponseMessage": reply["assistantResponseMessage"]}]


@pytest.mark.parametrize(("name", "reply"), golden("reply"))
def test_a_reply_goes_into_the_next_request_as_it_came(name: str, reply: Json) -> None:
    format_ = formats.get(name)
    messages = format_.decode(reply).messages
    if name == "qdeveloper":
        state = one(name, "request-first")
        payload = format_.encode((*format_.decode(state).messages, *messages), strict=True).payload
        assert payload["history"] == [state["currentMessage"], *reply_as_sent(name, reply)]
        assert "currentMessage" not in payload
    else:
        assert format_.encode(messages, strict=True).payload == reply_as_sent(name, reply)


@pytest.mark.parametrize(("name", "reply"), golden("reply"))
def test_one_reply_is_one_message_of_the_assistant(name: str, reply: Json) -> None:
    decoded = formats.get(name).decode(reply)
    blocked = "promptFeedback" in reply
    assert [message.role for message in decoded.messages] == ([] if blocked else ["assistant"])


@pytest.mark.parametrize(("name", "reply"), golden("reply"))
def test_nothing_of_a_reply_is_forgotten(name: str, reply: Json) -> None:
    """Every value is in the provenance's envelope or in the message."""
    decoded = formats.get(name).decode(reply)
    envelope = decoded.provenance.envelope
    kept = str(
        [envelope, [(message.envelope, [block.raw for block in message.blocks]) for message in decoded.messages]]
    )
    missing = [leaf for leaf in leaves(reply) if leaf not in kept]
    # A plain string of words is kept as the block's text alone.
    said = [block.text for message in decoded.messages for block in message.blocks if hasattr(block, "text")]
    assert [leaf for leaf in missing if leaf not in str(said)] == []


def leaves(value: Json) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [repr(value)]


def test_output_only_fields_do_not_go_in_and_required_nulls_do() -> None:
    format_ = formats.get("openai.responses")
    payload = format_.encode(format_.decode(one("openai.responses", "reply-every-item")).messages).payload
    assert not [item["type"] for item in payload if "created_by" in item]
    by_id = {item["id"]: item for item in payload}
    assert by_id["ig_2"]["result"] is None
    assert by_id["ci_1"]["code"] is None
    assert by_id["ci_1"]["outputs"] is None
    assert "status" not in by_id["ctco_1"]


def test_arguments_are_kept_byte_for_byte() -> None:
    format_ = formats.get("openai.chat")
    call = format_.decode(one("openai.chat", "request-tools")).messages[2].blocks[0]
    assert isinstance(call, ToolCall)
    assert call.arguments == '{ "city":"Zürich",\n "n": 1.0}'


@pytest.mark.parametrize("name", formats.names())
@given(dialog=dialogs)
@settings(max_examples=40, deadline=None)
def test_what_a_format_wrote_it_reads_and_writes_again(name: str, dialog: list[list[Message]]) -> None:
    format_ = formats.get(name)
    payload = format_.encode(flat(dialog)).payload
    again = format_.encode(format_.decode(payload).messages, strict=True)
    assert again.payload == payload


@pytest.mark.parametrize(("name", "payload"), golden("request"))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_damage_is_refused_or_kept_but_never_mended_in_silence(name: str, payload: Json, data: st.DataObject) -> None:
    format_ = formats.get(name)
    changed = data.draw(damaged(sent(name, payload)))
    try:
        messages = format_.decode(changed).messages
    except FormatError:
        return
    if not isinstance(changed, list) and name != "qdeveloper":
        return  # no list of a request any more
    if name == "bough.jsonl" or not messages:
        return
    assert format_.encode(messages).payload == changed


@pytest.mark.parametrize("name", formats.names())
@pytest.mark.parametrize("kind", ["request", "reply"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_bad_input_is_a_format_error_and_nothing_else(name: str, kind: str, data: st.DataObject) -> None:
    format_ = formats.get(name)
    for _, payload in golden(kind, name):
        changed = data.draw(damaged(data.draw(damaged(payload))))
        for read in (format_.decode, format_.check, formats.detect):
            with suppress(FormatError):
                read(changed)
