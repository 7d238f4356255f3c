"""Amazon Q Developer's conversation state.

The payload is a `conversationState`: a history of inputs and replies in strict pairs, and the current input apart. If a
dialog ends with a reply, there is no current input, and `currentMessage` is left out. The state's other fields (its id,
its trigger) are kept with its last message.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.call_ids import with_missing_ids
from bough.formats.encoder import Encoder
from bough.formats.mending import Mender, with_item_id
from bough.formats.payload import as_dict, at, plain, text_or_none
from bough.formats.qdeveloper.decode import decode_message, decode_state
from bough.formats.qdeveloper.encode import encode_state
from bough.formats.qdeveloper.rules import check
from bough.formats.qdeveloper.stream import QDeveloperStream
from bough.formats.tool_ids import ToolIds
from bough.formats.types import ANYONE, Decoded, Encoded, Mended, Provenance, Recipient, Violation
from bough.model import Json, Message


class QDeveloper:
    """The format of a `conversationState`, and of an `assistantResponseMessage`."""

    name = "qdeveloper"

    def decode(self, payload: Json) -> Decoded:
        payload = plain(payload)
        if isinstance(payload, list):
            return Decoded(decode_state({"history": payload}))
        payload = as_dict(payload, "A Q Developer payload")
        if "conversationState" in payload:
            rest = {key: value for key, value in payload.items() if key != "conversationState"}
            state = as_dict(payload["conversationState"], "conversationState")
            return Decoded(decode_state(state), Provenance(envelope=rest))
        if "assistantResponseMessage" in payload:
            return _decode_reply(payload)
        if "userInputMessage" in payload:
            return Decoded(with_missing_ids(decode_message(payload, "message")))
        return Decoded(decode_state(payload))

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        encoder = Encoder(self.name, ToolIds("a-zA-Z0-9_-", 64))
        return encoder.finish(encode_state(messages, encoder), strict)

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:  # noqa: ARG002
        """The messages with an id in every call and result."""
        return Mender(self.name).run(
            messages,
            lambda block, mender: with_item_id(block, mender, "toolUseId", "toolUseId"),
            lambda message, _: message,
        )

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:  # noqa: ARG002
        return check(payload)

    def accumulator(self) -> QDeveloperStream:
        return QDeveloperStream()


def _decode_reply(reply: dict[str, Json]) -> Decoded:
    body = as_dict(reply["assistantResponseMessage"], "assistantResponseMessage")
    rest = {key: value for key, value in reply.items() if key != "assistantResponseMessage"}
    calls = bool(body.get("toolUses"))
    return Decoded(
        with_missing_ids(decode_message({"assistantResponseMessage": body}, "reply")),
        Provenance(
            provider="qdeveloper",
            response_id=text_or_none(body.get("messageId")),
            request_id=text_or_none(at(reply, "messageMetadataEvent", "utteranceId")),
            stop_reason="tool_use" if calls else "end_turn",
            envelope=rest or None,
        ),
    )


FORMAT = QDeveloper()
