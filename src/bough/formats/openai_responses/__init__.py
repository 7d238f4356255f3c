"""OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.openai_responses.decode import decode_items, decode_output
from bough.formats.openai_responses.encode import encode_items
from bough.formats.openai_responses.mend import mend
from bough.formats.openai_responses.rules import check
from bough.formats.openai_responses.stream import ResponsesStream
from bough.formats.payload import as_dict, as_list, at, cost_of, count, plain, request_id, text_or_none
from bough.formats.tool_ids import ToolIds
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Json, Message, Usage


class OpenAIResponses:
    """The format of `input` in a request, and of a `response`."""

    name = "openai.responses"

    def decode(self, payload: Json) -> Decoded:
        http_id, payload = request_id(payload), plain(payload)
        if isinstance(payload, list):
            return Decoded(decode_items(payload, "input"))
        payload = as_dict(payload, "A Responses payload")
        if payload.get("object") == "list":  # the items of a conversation, as the Conversations API lists them
            return Decoded(decode_items(as_list(payload.get("data"), "data"), "data"))
        if "input" in payload and "output" not in payload and "type" not in payload:
            rest = {key: value for key, value in payload.items() if key != "input"}
            return Decoded(decode_items(_input_items(payload["input"]), "input"), Provenance(envelope=rest))
        if "output" in payload and "type" not in payload:
            return _decode_reply(payload, http_id)
        return Decoded(decode_items([payload], "input"))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name, ToolIds("!-~", 64))
        return encoder.finish(encode_items(messages, encoder), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        return mend(messages, target)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        return check(payload)

    def accumulator(self) -> ResponsesStream:
        return ResponsesStream()


def _input_items(items: Json) -> list[Json]:
    """The items of an input, which may also be one string of the user."""
    return [{"role": "user", "content": items}] if isinstance(items, str) else as_list(items, "input")


def _decode_reply(reply: dict[str, Json], http_id: str | None) -> Decoded:
    counts = reply.get("usage")
    usage = Usage(
        count(counts, "input_tokens"),
        count(counts, "output_tokens"),
        count(counts, "input_tokens_details", "cached_tokens"),
        count(counts, "output_tokens_details", "reasoning_tokens"),
        cost_of(counts),
    )
    return Decoded(
        decode_output(reply["output"] if isinstance(reply["output"], list) else []),
        Provenance(
            model=text_or_none(reply.get("model")),
            provider="openai",
            usage=usage,
            response_id=text_or_none(reply.get("id")),
            request_id=http_id,
            stop_reason=text_or_none(at(reply, "incomplete_details", "reason")) or text_or_none(reply.get("status")),
            envelope={key: value for key, value in reply.items() if key != "output"},
        ),
    )


FORMAT = OpenAIResponses()
