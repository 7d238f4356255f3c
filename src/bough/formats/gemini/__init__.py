"""Google's Gemini API, `generateContent`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bough.formats.call_ids import with_call_ids
from bough.formats.encoder import Encoder, emptied
from bough.formats.gemini.decode import decode_part
from bough.formats.gemini.encode import encode_part, text_part
from bough.formats.gemini.mend import mend
from bough.formats.gemini.rules import check
from bough.formats.gemini.stream import GeminiStream
from bough.formats.payload import as_dict, at, count, plain, text_or_none, total
from bough.formats.role_content import Dialect, decode_message, decode_messages, decode_reply, encode_messages
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
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

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        return mend(messages, target)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:
        return check(payload, model)

    def accumulator(self) -> GeminiStream:
        return GeminiStream()


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    """Decode the first candidate; the others stay in the envelope."""
    found = reply.get("candidates")
    candidates: list[Json] = found if isinstance(found, list) else []
    first = candidates[0] if candidates and isinstance(candidates[0], dict) else {}
    messages: list[Message] = []
    if isinstance(content := first.get("content"), dict):
        messages = decode_reply({"role": "model", **content}, DIALECT, "reply.candidates[0].content")
    envelope = dict(reply)
    if first:
        envelope["candidates"] = [emptied(first, "content"), *candidates[1:]]
    return Decoded(
        with_call_ids(messages),
        Provenance(
            model=text_or_none(_spelled(reply, "modelVersion")),
            provider="gemini",
            usage=_usage(_spelled(reply, "usageMetadata")),
            response_id=text_or_none(_spelled(reply, "responseId")),
            stop_reason=_finish(_spelled(first, "finishReason"))
            or text_or_none(at(reply, "promptFeedback", "blockReason")),
            envelope=envelope,
        ),
    )


FINISHES = (
    "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST",
    "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL",
)  # fmt: skip
"""Names of the numbers that Vertex sends, when its protobuf messages become JSON."""


def _spelled(value: Json, key: str) -> Json:
    """A field of a reply, in camelCase or, as Vertex's protobuf messages write it, in snake_case."""
    found = at(value, key)
    return at(value, re.sub("[A-Z]", lambda one: f"_{one[0].lower()}", key)) if found is None else found


def _finish(reason: Json) -> str | None:
    if isinstance(reason, int) and 0 <= reason < len(FINISHES):
        return FINISHES[reason]
    return text_or_none(reason)


def _usage(counts: Json) -> Usage:
    def tokens(key: str) -> int | None:
        return count({key: _spelled(counts, key)}, key)

    thoughts = tokens("thoughtsTokenCount")
    return Usage(
        input_tokens=total(tokens("promptTokenCount"), tokens("toolUsePromptTokenCount")),
        output_tokens=total(tokens("candidatesTokenCount"), thoughts),
        cached_tokens=tokens("cachedContentTokenCount"),
        reasoning_tokens=thoughts,
    )


FORMAT = Gemini()
