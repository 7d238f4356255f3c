"""Ollama's own API, `/api/chat`."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.encoder import Encoder
from bough.formats.mending import Mender
from bough.formats.ollama.decode import FAMILY, decode_messages, decode_reply
from bough.formats.ollama.encode import encode_messages
from bough.formats.ollama.stream import OllamaStream
from bough.formats.payload import as_dict, as_list, count, plain, request_list, text_or_none
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Json, Message, Usage


class Ollama:
    """The format of `messages` in a request, and of a reply.

    Content is a string with images beside it, arguments are objects, and calls need no ids.
    """

    name = FAMILY

    def decode(self, payload: Json) -> Decoded:
        payload = plain(payload)
        if isinstance(payload, list):
            return Decoded(decode_messages(payload))
        payload = as_dict(payload, "An Ollama payload")
        if "messages" in payload:
            rest = {key: value for key, value in payload.items() if key != "messages"}
            return Decoded(decode_messages(as_list(payload["messages"], "messages")), Provenance(envelope=rest))
        if "message" in payload:
            return _decode_reply(payload)
        return Decoded(decode_messages([payload]))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name)
        return encoder.finish(encode_messages(messages, encoder), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:  # noqa: ARG002
        """The messages without what could not be read; Ollama takes anything else back."""
        return Mender(self.name).run(messages, lambda block, _: block, lambda message, _: message)

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        """No violations: Ollama takes dialogs of any order. Raises `FormatError` if there is no list of messages."""
        request_list(payload, "messages")
        return []

    def accumulator(self) -> OllamaStream:
        return OllamaStream()


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    message = reply["message"]
    return Decoded(
        (decode_reply(message, "reply.message"),) if isinstance(message, dict) else (),
        Provenance(
            model=text_or_none(reply.get("model")),
            provider="ollama",
            usage=Usage(count(reply, "prompt_eval_count"), count(reply, "eval_count")),
            stop_reason=text_or_none(reply.get("done_reason")),
            envelope={key: value for key, value in reply.items() if key != "message"},
        ),
    )


FORMAT = Ollama()
