"""Amazon Bedrock's Converse API.

boto3 uses Python bytes where the wire has base64. Inside `raw` they are kept as `{"$bytes": base64}`, and `encode`
restores bytes; a base64 string stays a string. Media of other formats become bytes, as boto3 requires.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.bedrock.decode import decode_block
from bough.formats.bedrock.encode import encode_block, text_block
from bough.formats.bedrock.json_bytes import unwrap_bytes, wrap_bytes
from bough.formats.bedrock.mend import mend
from bough.formats.bedrock.rules import check
from bough.formats.bedrock.stream import BedrockStream
from bough.formats.call_ids import with_missing_ids
from bough.formats.encoder import Encoder
from bough.formats.payload import as_dict, at, count, plain, text_or_none, total
from bough.formats.role_content import Dialect, decode_message, decode_messages, decode_reply, encode_messages
from bough.formats.tool_ids import ToolIds
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Json, Message, Usage

DIALECT = Dialect(
    family="bedrock",
    content="content",
    roles={"user": "user", "assistant": "assistant", "tool_result": "user", "system": "system"},
    decode_block=decode_block,
    encode_block=encode_block,
    text_block=text_block,
    alternates=True,
)


class Bedrock:
    """The format of `messages` in a Converse request, and of its reply."""

    name = "bedrock"

    def decode(self, payload: Json) -> Decoded:
        payload = wrap_bytes(plain(payload))
        if isinstance(payload, list):
            return Decoded(with_missing_ids(decode_messages(payload, DIALECT, "messages")))
        payload = as_dict(payload, "A Bedrock payload")
        if "messages" in payload:
            rest = {key: value for key, value in payload.items() if key != "messages"}
            messages = decode_messages(payload["messages"], DIALECT, "messages")
            return Decoded(with_missing_ids(messages), Provenance(envelope=rest))
        if "output" in payload:
            return _decode_reply(payload)
        return Decoded(tuple(decode_message(payload, DIALECT, "message")))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name, ToolIds("a-zA-Z0-9_.:-", 64))
        return encoder.finish(unwrap_bytes(encode_messages(messages, DIALECT, encoder)), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        return mend(messages, target)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        return check(payload)

    def accumulator(self) -> BedrockStream:
        return BedrockStream()


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    message = at(reply, "output", "message")
    message = message if isinstance(message, dict) else {}
    counts = reply.get("usage")
    read, written = count(counts, "cacheReadInputTokens"), count(counts, "cacheWriteInputTokens")
    rest = {key: value for key, value in message.items() if key != "content"}
    return Decoded(
        with_missing_ids(decode_reply(message, DIALECT, "reply.output.message")) if message else (),
        Provenance(
            model=text_or_none(at(reply, "trace", "promptRouter", "invokedModelId")),
            provider="bedrock",
            # Bedrock excludes cached tokens from the input; `Usage` includes them.
            usage=Usage(total(count(counts, "inputTokens"), read, written), count(counts, "outputTokens"), read),
            request_id=text_or_none(at(reply, "ResponseMetadata", "RequestId")),
            stop_reason=text_or_none(reply.get("stopReason")),
            envelope={**reply, "output": {**reply["output"], "message": rest}} if message else dict(reply),
        ),
    )


FORMAT = Bedrock()
