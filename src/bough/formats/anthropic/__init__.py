"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.anthropic.decode import decode_block
from bough.formats.anthropic.encode import encode_block, text_block
from bough.formats.anthropic.mend import mend
from bough.formats.anthropic.rules import check
from bough.formats.anthropic.stream import AnthropicStream
from bough.formats.call_ids import with_missing_ids
from bough.formats.encoder import Encoder
from bough.formats.payload import as_dict, at, count, plain, request_id, text_or_none, total
from bough.formats.role_content import Dialect, decode_message, decode_messages, decode_reply, encode_messages
from bough.formats.tool_ids import ToolIds
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Json, Message, Usage

DIALECT = Dialect(
    family="anthropic",
    content="content",
    roles={"user": "user", "assistant": "assistant", "tool_result": "user", "system": "system"},
    decode_block=decode_block,
    encode_block=encode_block,
    text_block=text_block,
    alternates=False,
)


class Anthropic:
    """The format of `messages` in a request, and of a reply."""

    name = "anthropic"

    def decode(self, payload: Json) -> Decoded:
        http_id, payload = request_id(payload), plain(payload)
        if isinstance(payload, list):
            return Decoded(with_missing_ids(_decode_list(payload)))
        payload = as_dict(payload, "An Anthropic payload")
        if "messages" in payload:
            rest = {key: value for key, value in payload.items() if key != "messages"}
            messages = decode_messages(payload["messages"], DIALECT, "messages")
            return Decoded(with_missing_ids(messages), Provenance(envelope=rest))
        if "stop_reason" in payload or "usage" in payload:
            return _decode_reply(payload, http_id)
        return Decoded(tuple(decode_message(payload, DIALECT, "message")))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name, ToolIds("a-zA-Z0-9_-", 64))
        return encoder.finish(encode_messages(messages, DIALECT, encoder), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        return mend(messages, target)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        return check(payload)

    def accumulator(self) -> AnthropicStream:
        return AnthropicStream()


def _decode_list(items: list[Json]) -> tuple[Message, ...]:
    """The messages of a request, or of the content of one message: results are the user's, other blocks a reply."""
    blocks = [item for item in items if isinstance(item, dict) and "role" not in item and "type" in item]
    if not blocks or len(blocks) != len(items):
        return decode_messages(items, DIALECT, "messages")
    role = "user" if any(block["type"] == "tool_result" for block in blocks) else "assistant"
    return tuple(decode_message({"role": role, "content": items}, DIALECT, "content"))


def _decode_reply(reply: dict[str, Json], http_id: str | None) -> Decoded:
    messages = decode_reply({"role": "assistant", "content": reply.get("content")}, DIALECT, "reply")
    return Decoded(
        with_missing_ids(messages),
        Provenance(
            model=text_or_none(reply.get("model")),
            provider="anthropic",
            usage=decode_usage(reply.get("usage")),
            response_id=text_or_none(reply.get("id")),
            request_id=http_id,
            stop_reason=text_or_none(reply.get("stop_reason")),
            envelope={key: value for key, value in reply.items() if key != "content"},
        ),
    )


def decode_usage(counts: Json) -> Usage:
    """Token counts of a reply. Anthropic excludes cached tokens from the input; `Usage` includes them."""
    read, written = count(counts, "cache_read_input_tokens"), count(counts, "cache_creation_input_tokens")
    return Usage(
        input_tokens=total(count(counts, "input_tokens"), read, written),
        output_tokens=count(counts, "output_tokens"),
        cached_tokens=read,
        reasoning_tokens=count(at(counts, "output_tokens_details"), "thinking_tokens"),
    )


FORMAT = Anthropic()
