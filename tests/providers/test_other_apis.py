"""The APIs of Ollama, Cohere and Google's Interactions, over HTTP: requests, streams, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bough import formats, providers, user
from bough.errors import ProviderError
from bough.model import Json, ToolCall
from bough.providers.request_options import effort, structured_output
from bough.providers.types import Tool
from tests.formats.format_corpus import one

from .servers import Act, Server, drop, head, serving, sse

KEY = "sk-test-0123456789abcdef"
TOOL = Tool("look", "Looks somewhere.", {"type": "object", "properties": {"at": {"type": "string"}}})
APIS = ("ollama", "cohere", "gemini.interactions")
PATHS = {"ollama": "/api/chat", "cohere": "/api/chat", "gemini.interactions": "/api/interactions"}
ERRORS: dict[str, Json] = {
    "ollama": {"error": "overloaded"},
    "cohere": {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "overloaded"}},
    "gemini.interactions": {"event_type": "error", "error": {"message": "overloaded"}},
}


def sent(name: str, events: list[Any]) -> Act:
    """A stream as the API sends it: lines of JSON, or SSE."""
    lines = "".join(json.dumps(event) + "\n" for event in events).encode()
    is_lines = name == "ollama"
    content = head(content_type="application/x-ndjson" if is_lines else "text/event-stream")
    return lambda connection: connection.sendall(content + (lines if is_lines else sse(events)))


def ask(server: Server, name: str, **more: Any) -> Any:
    table = {"base_url": f"{server.address}/api", "type": name, "api_key": KEY}
    mine = providers.find("mine:m-1", {"mine": table})
    return mine.ask(formats.get(name).encode([user("hello")]).payload, **more)


@pytest.mark.parametrize("name", APIS)
def test_a_stream_yields_pieces_and_the_whole_reply(name: str) -> None:
    stream = one(name, "stream-tool")
    with serving(sent(name, stream["events"])) as server:
        answer = ask(server, name)
        pieces = list(answer)
    assert answer.reply() == stream["reply"]
    shown = {
        kind: "".join(piece.text for piece in pieces if piece.kind == kind) for kind in ("text", "thinking", "call")
    }
    assert shown["text"] == "Let me look."
    assert shown["thinking"] in ("Hm. It may rain.", "I will look.")
    assert shown["call"] == "look"
    decoded = formats.get(name).decode(answer.reply())
    assert [type(block) for block in decoded.messages[0].blocks].count(ToolCall) == 1
    assert answer.usage.input_tokens == decoded.provenance.usage.input_tokens


@pytest.mark.parametrize("name", APIS)
def test_a_request_has_dialog_instructions_tools_limit_and_key(name: str) -> None:
    with serving(sent(name, one(name, "stream-tool")["events"])) as server:
        list(ask(server, name, instructions="Be brief.", tools=[TOOL], max_tokens=99))
    (heard,) = server.heard
    assert heard.line == f"POST {PATHS[name]} HTTP/1.1"
    assert (heard.body["model"], heard.body["stream"]) == ("m-1", True)
    hello = formats.get(name).encode([user("hello")]).payload
    if name == "gemini.interactions":
        assert heard.headers["x-goog-api-key"] == KEY
        assert (heard.body["input"], heard.body["system_instruction"]) == (hello, "Be brief.")
        assert heard.body["tools"][0]["parameters"] == TOOL.parameters
        assert heard.body["generation_config"] == {"max_output_tokens": 99}
    else:
        assert heard.headers["authorization"] == f"Bearer {KEY}"
        assert heard.body["messages"] == [{"role": "system", "content": "Be brief."}, *hello]
        assert heard.body["tools"][0]["function"]["parameters"] == TOOL.parameters
        assert 99 in (heard.body.get("max_tokens"), heard.body.get("options", {}).get("num_predict"))


@pytest.mark.parametrize("name", APIS)
def test_an_error_in_a_stream_and_a_stream_that_stops_are_errors_and_what_came_is_kept(name: str) -> None:
    events = one(name, "stream-tool")["events"]
    begun = (
        events[:-3] if name == "ollama" else events[: next(at for at, e in enumerate(events) if "Let me" in str(e)) + 1]
    )
    with serving(sent(name, [*begun, ERRORS[name]])) as server, pytest.raises(ProviderError, match="overloaded"):
        list(ask(server, name))
    with serving(sent(name, begun), drop) as server:
        answer = ask(server, name)
        with pytest.raises(ProviderError, match="What came until then is kept"):
            list(answer)
    assert "Let me" in formats.get(name).decode(answer.reply()).messages[0].text


def test_options_have_the_names_of_each_api() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {}}
    assert effort("ollama", "low") == {"think": "low"}
    assert structured_output("ollama", schema) == {"format": schema}
    assert structured_output("cohere", schema)["response_format"]["schema"] == schema
    assert structured_output("gemini.interactions", schema)["response_format"]["schema"] == schema
    for name in ("cohere", "gemini.interactions"):
        with pytest.raises(ProviderError, match=f"not known for the format '{name}'"):
            effort(name, "low")
