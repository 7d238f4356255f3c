"""What the official SDKs make of a stream, reduced to the fields that every accumulator must agree on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from bough.model import Json


def of_chat(events: Sequence[Json]) -> Json:
    """The message of `openai`'s accumulator for Chat Completions."""
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    state = ChatCompletionStreamState()
    for event in events:
        state.handle_chunk(ChatCompletionChunk.construct(**event))
    message = state.current_completion_snapshot.choices[0].message
    return chat_message(message.model_dump(mode="json"))


def chat_message(message: dict[str, Json]) -> Json:
    calls = message.get("tool_calls") or []
    return {
        "content": message.get("content") or "",
        "refusal": message.get("refusal") or "",
        "calls": [[call["function"]["name"], call["function"].get("arguments") or ""] for call in calls],
    }


def of_responses(events: Sequence[Json]) -> Json:
    """The output of `openai`'s accumulator for Responses."""
    from openai import omit
    from openai._models import construct_type
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in events:
        state.handle_event(construct_type(type_=ResponseStreamEvent, value=event))
    snapshot = state._completed_response or state._ResponseStreamState__current_snapshot
    return responses_output(snapshot.model_dump(mode="json", by_alias=True))


def responses_output(reply: dict[str, Json]) -> Json:
    found = []
    for item in reply["output"]:
        content = item.get("content") if isinstance(item.get("content"), list) else []
        texts = [part.get("text") or part.get("refusal") or "" for part in content or []]
        found.append([item["type"], item.get("name"), item.get("arguments"), texts])
    return found


def of_anthropic(events: Sequence[Json]) -> Json:
    """The content of `anthropic`'s accumulator."""
    from anthropic._models import construct_type
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import RawMessageStreamEvent

    snapshot = None
    pieces: dict[int, bytes] = {}
    for event in events:
        if event.get("type") != "ping":
            typed: Any = construct_type(type_=RawMessageStreamEvent, value=event)
            snapshot = accumulate_event(event=typed, current_snapshot=snapshot, json_bufs=pieces)
    assert snapshot is not None
    return anthropic_content(json.loads(snapshot.to_json()))


def anthropic_content(reply: dict[str, Json]) -> Json:
    keys = ("type", "text", "thinking", "signature", "id", "name", "data")
    blocks = [
        # The input of other calls is assembled only by the SDK's accumulator for beta messages.
        {key: block[key] for key in (*keys, *(["input"] if block["type"] in WITH_INPUT else [])) if block.get(key)}
        for block in reply["content"]
    ]
    return [blocks, reply.get("stop_reason"), (reply.get("usage") or {}).get("output_tokens")]


def of_gemini(events: Sequence[Json]) -> Json:
    """The parts of all chunks as `google-genai` types them, which has no accumulator: texts, thoughts and calls."""
    from google.genai.types import GenerateContentResponse

    parts: list[Any] = []
    for event in events:
        # Of the candidates alone: the SDK refuses fields of the counts that are newer than itself.
        chunk = GenerateContentResponse.model_validate({"candidates": event.get("candidates")})
        for candidate in (chunk.candidates or [])[:1]:
            parts += (candidate.content.parts or []) if candidate.content else []
    return [
        "".join(part.text for part in parts if part.text and not part.thought),
        "".join(part.text for part in parts if part.text and part.thought),
        [[part.function_call.name, part.function_call.args or {}] for part in parts if part.function_call],
    ]


def gemini_parts(reply: dict[str, Json]) -> Json:
    parts = ((reply.get("candidates") or [{}])[0].get("content") or {}).get("parts") or []
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return [
        "".join(part.get("text") or "" for part in parts if not part.get("thought")),
        "".join(part.get("text") or "" for part in parts if part.get("thought")),
        [[call["name"], call.get("args") or {}] for call in calls],
    ]


WITH_INPUT = ("tool_use", "server_tool_use")
Reduce = Callable[[dict[str, Json]], Json]
SDKS: dict[str, tuple[Callable[[Sequence[Json]], Json], Reduce]] = {
    "openai.chat": (of_chat, lambda reply: chat_message(reply["choices"][0]["message"])),
    "openai.responses": (of_responses, responses_output),
    "anthropic": (of_anthropic, anthropic_content),
    "gemini": (of_gemini, gemini_parts),
}
"""By format: what its SDK makes of events, and the same of the reply that bough makes of them."""


def difference(name: str, events: Sequence[Json], reply: dict[str, Json]) -> str | None:
    """How a reply of bough's accumulator differs from that of the SDK, which may raise; None if it does not."""
    of_sdk, of_reply = SDKS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pydantic, about types that are newer than the SDK
        theirs, ours = of_sdk(events), of_reply(reply)
    return None if theirs == ours else f"the SDK has {json.dumps(theirs)[:200]}, and bough {json.dumps(ours)[:200]}"
