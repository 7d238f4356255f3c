"""Google's Gemini API, `generateContent`."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder, emptied
from bough.formats.gemini.call_ids import with_call_ids
from bough.formats.gemini.decode import decode_part
from bough.formats.gemini.encode import encode_part, text_part
from bough.formats.gemini.rules import check
from bough.formats.gemini.stream import GeminiStream
from bough.formats.payload import as_dict, as_list, at, count, plain, text_or_none, total
from bough.formats.role_content import Dialect, decode_message, decode_messages, encode_messages
from bough.formats.types import Decoded, Encoded, Provenance, Violation
from bough.model import Json, Message, Usage

DIALECT = Dialect(
    family="gemini",
    content="parts",
    roles={"user": "user", "assistant": "model", "tool_result": "user", "system": "user"},
    decode_block=decode_part,
    encode_block=encode_part,
    text_block=text_part,
    alternates=True,
    older_roles={"function": "user"},
)


class Gemini:
    """The format of `contents` in a request, and of a reply."""

    name = "gemini"

    def decode(self, payload: Json) -> Decoded:
        payload = plain(payload)
        if isinstance(payload, list):
            return Decoded(with_call_ids(decode_messages(payload, DIALECT, "contents")))
        payload = as_dict(payload, "A Gemini payload")
        if "contents" in payload:
            rest = {key: value for key, value in payload.items() if key != "contents"}
            messages = with_call_ids(decode_messages(payload["contents"], DIALECT, "contents"))
            return Decoded(messages, Provenance(envelope=rest))
        if "candidates" in payload or "promptFeedback" in payload:
            return _decode_reply(payload)
        return Decoded(with_call_ids(decode_message(payload, DIALECT, "content")))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name)
        return encoder.finish(encode_messages(messages, DIALECT, encoder), strict)

    def check(self, payload: Json) -> list[Violation]:
        return check(payload)

    def accumulator(self) -> GeminiStream:
        return GeminiStream()


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    """Decode the first candidate; the others stay in the envelope."""
    candidates = as_list(reply.get("candidates", []), "reply.candidates")
    first = as_dict(candidates[0], "reply.candidates[0]") if candidates else {}
    messages: list[Message] = []
    if isinstance(content := first.get("content"), dict):
        messages = decode_message({"role": "model", **content}, DIALECT, "reply.candidates[0].content")
    envelope = dict(reply)
    if candidates:
        envelope["candidates"] = [emptied(first, "content"), *candidates[1:]]
    return Decoded(
        with_call_ids(messages),
        Provenance(
            model=text_or_none(reply.get("modelVersion")),
            provider="gemini",
            usage=_usage(reply.get("usageMetadata")),
            response_id=text_or_none(reply.get("responseId")),
            stop_reason=text_or_none(first.get("finishReason"))
            or text_or_none(at(reply, "promptFeedback", "blockReason")),
            envelope=envelope,
        ),
    )


def _usage(counts: Json) -> Usage:
    thoughts = count(counts, "thoughtsTokenCount")
    return Usage(
        input_tokens=total(count(counts, "promptTokenCount"), count(counts, "toolUsePromptTokenCount")),
        output_tokens=total(count(counts, "candidatesTokenCount"), thoughts),
        cached_tokens=count(counts, "cachedContentTokenCount"),
        reasoning_tokens=thoughts,
    )


FORMAT = Gemini()
