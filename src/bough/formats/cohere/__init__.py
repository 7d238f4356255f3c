"""Cohere's Chat API, version 2."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats import openai_chat
from bough.formats.cohere.as_chat import FAMILY, as_chat, from_chat
from bough.formats.cohere.encode import prepared
from bough.formats.cohere.stream import CohereStream
from bough.formats.encoder import Encoder, own
from bough.formats.openai_chat.decode import decode_reply
from bough.formats.payload import at, count, plain, request_list, text_or_none, written
from bough.formats.servers import ServerDialect
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Block, Json, Media, Message, Other, Text, ToolResult, Usage
from bough.model.values import replace

_CHAT = openai_chat.FORMAT
_SERVER = ServerDialect(FAMILY, reasoning=("tool_plan",), parts=True, empty=False)


class Cohere:
    """The format of `messages` in a request, and of a reply."""

    name = FAMILY

    def decode(self, payload: Json) -> Decoded:
        payload = plain(payload)
        if isinstance(payload, dict) and "message" in payload:
            return _decode_reply(payload)
        decoded = _CHAT.decode(payload)
        return Decoded(from_chat(map(_with_documents, decoded.messages)), decoded.provenance)

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name)
        encoded = _CHAT.encode(as_chat(prepared(messages, encoder)))
        encoder.losses = sorted([*encoder.losses, *encoded.losses], key=lambda loss: loss.message)
        return encoder.finish(encoded.payload, strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        mended = _CHAT.mend(as_chat(messages), Recipient(target.model, _SERVER))
        return Mended(from_chat(mended.messages), mended.losses)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        _, messages = request_list(payload, "messages")
        empty = [
            Violation(6, "a message with neither content nor calls", index)
            for index, message in enumerate(messages)
            if message.get("content") in ("", []) and message.get("role") != "tool" and not message.get("tool_calls")
        ]
        return _CHAT.check(payload) + empty

    def accumulator(self) -> CohereStream:
        return CohereStream()


def _with_documents(message: Message) -> Message:
    """The message with the documents of its results as their text."""
    if not any(isinstance(part, Other) for result in message.results for part in result.content):
        return message
    return replace(message, blocks=tuple(map(_as_texts, message.blocks)))


def _as_texts(block: Block) -> Block:
    if not isinstance(block, ToolResult):
        return block
    return replace(block, content=tuple(_document(part) or part for part in block.content))


def _document(part: Text | Media | Other) -> Text | None:
    item = own(part.raw, _CHAT.name) if isinstance(part, Other) and part.type == "document" else None
    data = at(item, "document", "data")
    return Text(data if isinstance(data, str) else written(data)) if data is not None else None


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    message, counts = reply["message"], reply.get("usage")
    usage = Usage(
        _tokens(at(counts, "tokens", "input_tokens")),
        _tokens(at(counts, "tokens", "output_tokens")),
        _tokens(at(counts, "cached_tokens")),
    )
    return Decoded(
        from_chat([decode_reply(message, "reply.message")]) if isinstance(message, dict) else (),
        Provenance(
            model=text_or_none(reply.get("model")),
            provider="cohere",
            usage=usage,
            response_id=text_or_none(reply.get("id")),
            stop_reason=text_or_none(reply.get("finish_reason")),
            envelope={key: value for key, value in reply.items() if key != "message"},
        ),
    )


def _tokens(number: Json) -> int | None:
    """A count, which may come as a float."""
    return count({"": int(number) if isinstance(number, float) and number.is_integer() else number}, "")


FORMAT = Cohere()
