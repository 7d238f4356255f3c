"""Google's Interactions API."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.gemini_interactions.decode import FAMILY, decode_input, decode_outputs
from bough.formats.gemini_interactions.encode import encode_steps
from bough.formats.gemini_interactions.rules import check
from bough.formats.gemini_interactions.stream import InteractionsStream
from bough.formats.mending import Mender, drop_blank, is_blank, with_item_id
from bough.formats.payload import as_dict, count, plain, text_or_none, total
from bough.formats.tool_ids import ToolIds
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Block, Json, Message, Usage

_REPLY = ("steps", "outputs")
"""Lists of a reply: its steps, or, as the first version of the API had them, its contents."""


class GeminiInteractions:
    """The format of `input` in a request, and of an interaction."""

    name = FAMILY

    def decode(self, payload: Json) -> Decoded:
        payload = plain(payload)
        if isinstance(payload, list):
            return Decoded(decode_input(payload))
        payload = as_dict(payload, "A payload of Interactions")
        if any(key in payload for key in _REPLY) or ("status" in payload and "type" not in payload):
            return _decode_reply(payload)
        if "input" in payload:
            rest = {key: value for key, value in payload.items() if key != "input"}
            return Decoded(decode_input(payload["input"]), Provenance(envelope=rest))
        return Decoded(decode_input([payload]))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name, ToolIds("!-~", 64))
        return encoder.finish(encode_steps(messages, encoder), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:  # noqa: ARG002
        return Mender(self.name).run(messages, _mend_block)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        return check(payload)

    def accumulator(self) -> InteractionsStream:
        return InteractionsStream()


def _mend_block(block: Block, mender: Mender) -> Block | None:
    if is_blank(block):
        return drop_blank(block, mender)
    return with_item_id(block, mender, "id", "call_id", added=True)


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    counts = reply.get("usage")
    thoughts = count(counts, "total_thought_tokens")
    listed: list[Json] = next((reply[key] for key in _REPLY if isinstance(reply.get(key), list)), [])
    return Decoded(
        decode_outputs(listed),
        Provenance(
            model=text_or_none(reply.get("model")) or text_or_none(reply.get("agent")),
            provider="gemini",
            usage=Usage(
                total(count(counts, "total_input_tokens"), count(counts, "total_tool_use_tokens")),
                total(count(counts, "total_output_tokens"), thoughts),
                count(counts, "total_cached_tokens"),
                thoughts,
            ),
            response_id=text_or_none(reply.get("id")),
            stop_reason=text_or_none(reply.get("status")),
            envelope={key: value for key, value in reply.items() if key not in _REPLY},
        ),
    )


FORMAT = GeminiInteractions()
