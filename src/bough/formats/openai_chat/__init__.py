"""OpenAI's Chat Completions API, and compatible ones."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.openai_chat.decode import decode_message, decode_messages
from bough.formats.openai_chat.encode import encode_messages
from bough.formats.openai_chat.rules import check
from bough.formats.openai_chat.stream import ChatStream
from bough.formats.payload import as_dict, as_list, count, plain, request_id, text_or_none
from bough.formats.tool_ids import ToolIds
from bough.formats.types import Decoded, Encoded, Provenance, Violation
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

    def check(self, payload: Json) -> list[Violation]:
        return check(payload)

    def accumulator(self) -> ChatStream:
        return ChatStream()


def _decode_reply(reply: dict[str, Json], http_id: str | None) -> Decoded:
    """Decode the first choice; the others stay in the envelope."""
    choices = as_list(reply["choices"], "reply.choices")
    first = as_dict(choices[0], "reply.choices[0]") if choices else {}
    messages: tuple[Message, ...] = ()
    envelope = dict(reply)
    if choices:
        wire = as_dict(first.get("message"), "reply.choices[0].message")
        messages = (decode_message({"role": "assistant", **wire}, "assistant", "reply.choices[0].message"),)
        shell = {key: value for key, value in first.items() if key != "message"}
        envelope["choices"] = [shell, *choices[1:]]
    counts = reply.get("usage")
    usage = Usage(
        count(counts, "prompt_tokens"),
        count(counts, "completion_tokens"),
        count(counts, "prompt_tokens_details", "cached_tokens"),
        count(counts, "completion_tokens_details", "reasoning_tokens"),
    )
    return Decoded(
        messages,
        Provenance(
            model=text_or_none(reply.get("model")),
            provider=text_or_none(reply.get("provider")) or "openai",
            usage=usage,
            response_id=text_or_none(reply.get("id")),
            request_id=http_id,
            stop_reason=text_or_none(first.get("finish_reason")),
            envelope=envelope,
        ),
    )


FORMAT = OpenAIChat()
