"""A streamed reply is the reply."""

from __future__ import annotations

import pytest

from bough import formats
from bough.errors import FormatError
from bough.model import Json
from tests.formats.format_corpus import golden, one
from tests.formats.sdk_streams import SDKS, difference

EVENTS_THAT_FAIL = {
    "openai.responses": {"type": "error", "message": "overloaded"},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}},
    "bedrock": {"modelStreamErrorException": {"message": "overloaded"}},
    "qdeveloper": {"error": {"message": "overloaded"}},
    "gemini.interactions": {"event_type": "error", "error": {"code": 503, "message": "overloaded"}},
    "cohere": {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "overloaded"}},
    "ollama": {"error": "overloaded"},
}


@pytest.mark.parametrize(("name", "stream"), golden("stream"))
def test_a_stream_adds_up_to_the_reply_without_streaming(name: str, stream: Json) -> None:
    accumulator = formats.get(name).accumulator()
    for event in stream["events"]:
        accumulator.feed(event)
    assert accumulator.reply() == stream["reply"]


@pytest.mark.parametrize(("name", "stream"), golden("stream", *SDKS))
def test_a_stream_adds_up_to_what_the_official_sdk_makes_of_it(name: str, stream: Json) -> None:
    assert difference(name, stream["events"], stream["reply"]) is None


def test_a_reply_that_differs_from_the_sdks_is_told() -> None:
    ((_, stream),) = golden("stream", "anthropic")
    changed = {**stream["reply"], "stop_reason": "max_tokens"}
    assert "the SDK has" in str(difference("anthropic", stream["events"], changed))


@pytest.mark.parametrize(("name", "stream"), golden("stream"))
def test_feeding_leaves_the_events_alone(name: str, stream: Json) -> None:
    """Applications show the events while bough collects them."""
    before = repr(stream["events"])
    accumulator = formats.get(name).accumulator()
    for event in stream["events"]:
        accumulator.feed(event)
        accumulator.reply()
    assert repr(stream["events"]) == before
    assert accumulator.reply() == stream["reply"]


@pytest.mark.parametrize(("name", "event"), EVENTS_THAT_FAIL.items())
def test_an_error_in_the_stream_is_raised(name: str, event: Json) -> None:
    with pytest.raises(FormatError, match="overloaded"):
        formats.get(name).accumulator().feed(event)


@pytest.mark.parametrize("name", formats.names())
def test_what_is_no_event_is_refused(name: str) -> None:
    with pytest.raises(FormatError):
        formats.get(name).accumulator().feed("hello")


def test_a_response_that_breaks_off_has_what_was_streamed() -> None:
    stream = one("openai.responses", "stream-text-and-call")
    accumulator = formats.get("openai.responses").accumulator()
    for event in stream["events"][:5]:
        accumulator.feed(event)
    reply = accumulator.reply()
    assert reply["status"] == "in_progress"
    assert formats.get("openai.responses").decode(reply).messages[0].text == "Hello"


def test_a_last_event_without_output_does_not_lose_the_output() -> None:
    stream = one("openai.responses", "stream-text-and-call")
    accumulator = formats.get("openai.responses").accumulator()
    for event in stream["events"]:
        response = {key: value for key, value in event.get("response", {}).items() if key != "output"}
        accumulator.feed({**event, "response": response} if response else event)
    assert accumulator.reply() == stream["reply"]


def test_a_block_that_was_never_started_is_an_error() -> None:
    accumulator = formats.get("anthropic").accumulator()
    with pytest.raises(FormatError, match="never started"):
        accumulator.feed({"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "x"}})


def test_input_that_is_not_json_is_an_error() -> None:
    accumulator = formats.get("bedrock").accumulator()
    accumulator.feed(
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "n"}}}}
    )
    accumulator.feed({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{"}}}})
    accumulator.feed({"contentBlockStop": {"contentBlockIndex": 0}})
    with pytest.raises(FormatError, match="not JSON"):
        accumulator.reply()


@pytest.mark.parametrize("name", ["anthropic", "bedrock", "qdeveloper", "cohere", "gemini.interactions"])
def test_half_a_call_does_not_look_like_a_call(name: str) -> None:
    ((_, stream),) = golden("stream", name)
    half = next(at for at, event in enumerate(stream["events"]) if '"at": ' in str(event) or '"path":' in str(event))
    accumulator = formats.get(name).accumulator()
    for event in stream["events"][: half + 1]:
        accumulator.feed(event)
    message = formats.get(name).decode(accumulator.reply()).messages[0]
    assert message.text.startswith("Let me")
    assert message.calls == ()


@pytest.mark.parametrize("place", ["0", -1, 1.0, True, [0], 10**12])
def test_a_place_that_no_reply_has_is_an_error_and_takes_no_memory(place: Json) -> None:
    call = {"index": place, "function": {"name": "look"}}
    events: list[tuple[str, Json]] = [
        ("openai.chat", {"choices": [{"index": place, "delta": {}}]}),
        ("openai.chat", {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}),
        ("openai.responses", {"type": "response.output_item.added", "output_index": place, "item": {}}),
        ("openai.responses", {"type": "response.output_text.delta", "content_index": place, "delta": "x"}),
    ]
    for name, event in events:
        with pytest.raises(FormatError, match="the index of a part"):
            formats.get(name).accumulator().feed(event)
