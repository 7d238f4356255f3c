"""OpenAI's Chat Completions API, and compatible ones."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.openai_chat.decode import decode_messages, decode_reply
from bough.formats.openai_chat.encode import encode_messages
from bough.formats.openai_chat.mend import mend
from bough.formats.openai_chat.rules import check
from bough.formats.openai_chat.stream import ChatStream
from bough.formats.payload import as_dict, as_list, at, cost_of, count, plain, request_id, text_or_none
from bough.formats.tool_ids import ToolIds
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Json, Message, Usage


class OpenAIChat:
    """The format of `messages` in a request, and of a `chat.completion`."""

    name = "openai.chat"

    def decode(self, payload: Json) -> Decoded:
        http_id, payload = request_id(payload), plain(payload)
        if isinstance(payload, list):
            return Decoded(decode_messages(payload))
        payload = as_dict(payload, "A Chat payload")
        if "messages" in payload:
            rest = {key: value for key, value in payload.items() if key != "messages"}
            return Decoded(decode_messages(as_list(payload["messages"], "messages")), Provenance(envelope=rest))
        if "choices" in payload:
            return _decode_reply(payload, http_id)
        return Decoded(decode_messages([payload]))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name, ToolIds("!-~", 40))
        return encoder.finish(encode_messages(messages, encoder), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        return mend(messages, target)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        return check(payload)

    def accumulator(self) -> ChatStream:
        return ChatStream()


def _decode_reply(reply: dict[str, Json], http_id: str | None) -> Decoded:
    """Decode the first choice; the others stay in the envelope."""
    choices = reply["choices"] if isinstance(reply["choices"], list) else []
    first = choices[0] if choices and isinstance(choices[0], dict) else {}
    messages: tuple[Message, ...] = ()
    envelope = dict(reply)
    if isinstance(wire := first.get("message"), dict):  # a choice that was filtered may have none
        messages = (decode_reply(wire, "reply.choices[0].message"),)
        shell = {key: value for key, value in first.items() if key != "message"}
        envelope["choices"] = [shell, *choices[1:]]
    return Decoded(
        messages,
        Provenance(
            model=text_or_none(reply.get("model")),
            provider=text_or_none(reply.get("provider")) or "openai",
            usage=decode_usage(reply),
            response_id=text_or_none(reply.get("id")),
            request_id=http_id,
            stop_reason=text_or_none(first.get("finish_reason")),
            envelope=envelope,
        ),
    )


def decode_usage(reply: dict[str, Json]) -> Usage:
    """Token counts and cost of a reply, from the places in which compatible servers put them."""
    counts = reply.get("usage") or at(reply, "x_groq", "usage")
    cached = (
        count(counts, "prompt_tokens_details", "cached_tokens"),
        count(counts, "num_cached_tokens"),  # Mistral
        count(counts, "cached_tokens"),  # Moonshot
        count(counts, "prompt_cache_hit_tokens"),  # DeepSeek
    )
    return Usage(
        count(counts, "prompt_tokens"),
        count(counts, "completion_tokens"),
        next((number for number in cached if number is not None), None),
        count(counts, "completion_tokens_details", "reasoning_tokens"),
        cost_of(counts),
    )


FORMAT = OpenAIChat()
