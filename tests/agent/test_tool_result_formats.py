"""The loop in every format: calls are decoded, and the request with their results is valid."""

from __future__ import annotations

from typing import Any

import pytest

from bough import Session, formats
from bough.agent import Agent, run, tool
from bough.model import Json
from tests.agent.fake_provider import FakeProvider, FakeReply, FakeStream

TREES = ("oak", "elm")

REPLIES: dict[str, list[Json]] = {
    "anthropic": [
        {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "Two trees.", "signature": "c2ln"},
                *[{"type": "tool_use", "id": f"c_{tree}", "name": "girth", "input": {"tree": tree}} for tree in TREES],
            ],
            "usage": {"input_tokens": 5, "output_tokens": 3},
        },
        {
            "id": "msg_2", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Both thick."}], "usage": {"input_tokens": 9, "output_tokens": 2},
        },
    ],
    "openai.responses": [
        {
            "id": "resp_1", "object": "response", "model": "m", "status": "completed",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="},
                *[
                    {
                        "type": "function_call", "id": f"fc_{tree}", "call_id": f"c_{tree}", "name": "girth",
                        "arguments": f'{{"tree": "{tree}"}}', "status": "completed",
                    }
                    for tree in TREES
                ],
            ],
        },
        {
            "id": "resp_2", "object": "response", "model": "m", "status": "completed",
            "output": [
                {
                    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Both thick.", "annotations": []}],
                }
            ],
        },
    ],
    "bough.jsonl": [
        {
            "role": "assistant",
            "blocks": [
                {"type": "tool_call", "call_id": f"c_{tree}", "name": "girth", "arguments": f'{{"tree": "{tree}"}}'}
                for tree in TREES
            ],
        },
        {"role": "assistant", "blocks": [{"type": "text", "text": "Both thick."}]},
    ],
}  # fmt: skip


class FixedStream(FakeStream):
    """A stream with a given reply."""

    def __init__(self, reply: Json) -> None:
        super().__init__(FakeReply("…"))
        self._payload = reply

    def reply(self) -> dict[str, Json]:
        return dict(self._payload)


class FormatProvider(FakeProvider):
    """A provider that replies in a given format."""

    def __init__(self, format: str) -> None:
        super().__init__("…")
        self.format = format

    def ask(self, messages: Json, **options: Any) -> FixedStream:
        self.requests.append(messages)
        return FixedStream(REPLIES[self.format][len(self.requests) - 1])


def girth(tree: str) -> str:
    return f"{tree}: 4.1 m"


@pytest.mark.parametrize("format", REPLIES)
def test_tool_results_are_sent_in_the_format_of_the_provider(session: Session, format: str) -> None:
    provider = FormatProvider(format)
    done = run(Agent(provider, tools=[tool(girth)]), session, "How thick are they?")
    assert (done.status, done.text) == ("complete", "Both thick.")
    request = provider.requests[1]
    assert formats.get(format).check(request) == []
    text = str(request)
    assert 0 < text.index("oak: 4.1 m") < text.index("elm: 4.1 m")
    assert ("c2ln" in text) == (format == "anthropic")
    assert ("c2VhbA==" in text) == (format == "openai.responses")
