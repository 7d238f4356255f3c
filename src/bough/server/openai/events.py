"""The events of a response that is being written, in the order and with the fields that OpenAI's clients require."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bough.model import Block, Json, Message, Text
from bough.model.values import mutable, replace
from bough.server.json_text import encoded
from bough.server.openai.ids import item_id
from bough.server.openai.items import call_item, kind_of, text_part, with_items

if TYPE_CHECKING:
    from bough.providers.types import Piece

KINDS = {"text": "message", "thinking": "reasoning", "call": "function_call", "arguments": "function_call"}
"""Types of items by kinds of pieces."""
OWN = {"response.created", "response.queued", "response.in_progress", "response.completed", "response.incomplete",
       "response.failed", "response.cancelled"}  # fmt: skip
"""Events of a provider that are replaced by those of the response that is stored here."""


def frame(event: dict[str, Json]) -> bytes:
    """An event as it is sent."""
    return b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), encoded(event))


@mutable
class OpenItem:
    """An item that is being streamed."""

    id: str
    kind: str
    index: int
    place: int | None
    text: str = ""
    call_id: str = ""
    name: str = ""
    closed: bool = False


class ResponseEvents:
    """Turns the pieces of a provider's answer, or the events of one that has this API, into the events of a response.

    `send` gets each event, which has its sequence number.
    """

    def __init__(self, id: str, send: Callable[[dict[str, Json]], object]) -> None:
        self._id = id
        self._send = send
        self._sequence = 0
        self._items: list[OpenItem] = []

    def emit(self, type: str, **fields: Json) -> None:
        """Send an event."""
        self.send(self.event(type, **fields))

    def event(self, type: str, **fields: Json) -> dict[str, Json]:
        """The next event, which is not sent yet."""
        return {"type": type, **fields, "sequence_number": self._sequence}

    def send(self, event: dict[str, Json]) -> None:
        """Send an event that `event` has made."""
        self._send(event)
        self._sequence += 1

    # From a provider with this API ----------------------------------------------------------------------------------

    def forward(self, event: dict[str, Json]) -> None:
        """Pass on an event of a provider, with what clients need and some servers leave out."""
        kind = str(event.get("type"))
        if kind in OWN:
            return
        fields = {key: one for key, one in event.items() if key not in ("type", "sequence_number")}
        if "content_part" in kind or "output_text" in kind or "refusal" in kind or "reasoning_text" in kind:
            fields = {"content_index": 0, **fields}
        if kind.startswith("response.") and "item_id" not in fields and "item" not in fields:
            fields = {"item_id": "", **fields}
        if kind == "response.output_text.delta":
            fields = {"logprobs": [], **fields}
        self.emit(kind, **fields)

    # From pieces ----------------------------------------------------------------------------------------------------

    def piece(self, piece: Piece) -> None:
        """Send the events of a piece."""
        item = self._item_of(piece)
        if item.closed:
            return  # of a provider that comes back to a block: the last event has all of it
        if piece.kind != "call":
            item.text += piece.text
            self._delta(item, piece.text)

    def _item_of(self, piece: Piece) -> OpenItem:
        kind = KINDS[piece.kind]
        if piece.kind != "call":
            for item in reversed(self._items):
                if item.kind == kind and item.place == piece.place:
                    return item
        return self._open(kind, piece)

    def _open(self, kind: str, piece: Piece) -> OpenItem:
        self._close_open()
        index = len(self._items)
        item = OpenItem(item_id(kind, self._id, index), kind, index, piece.place)
        if piece.kind == "call":
            item.name, item.call_id = piece.text, piece.call_id or item.id
        self._items.append(item)
        self.emit("response.output_item.added", output_index=index, item=_begun(item))
        if kind != "function_call":
            self.emit("response.content_part.added", **self._at(item), part=_part(item))
        return item

    def _at(self, item: OpenItem) -> dict[str, Json]:
        """Which part of which item an event is about."""
        at: dict[str, Json] = {"item_id": item.id, "output_index": item.index}
        return at if item.kind == "function_call" else {**at, "content_index": 0}

    def _delta(self, item: OpenItem, text: str) -> None:
        match item.kind:
            case "message":
                self.emit("response.output_text.delta", **self._at(item), delta=text, logprobs=[])
            case "reasoning":
                self.emit("response.reasoning_text.delta", **self._at(item), delta=text)
            case _:
                self.emit("response.function_call_arguments.delta", **self._at(item), delta=text)

    def _close_open(self) -> None:
        for item in self._items:
            if not item.closed:
                self._close(item)

    def _close(self, item: OpenItem) -> None:
        item.closed = True
        match item.kind:
            case "message":
                self.emit("response.output_text.done", **self._at(item), text=item.text, logprobs=[])
            case "reasoning":
                self.emit("response.reasoning_text.done", **self._at(item), text=item.text)
            case _:
                self.emit(
                    "response.function_call_arguments.done", **self._at(item), name=item.name, arguments=item.text
                )
        if item.kind != "function_call":
            self.emit("response.content_part.done", **self._at(item), part=_part(item))
        self.emit("response.output_item.done", output_index=item.index, item=_ended(item))

    def finish(self, reply: Message) -> Message:
        """The reply with the items of this stream; what was not streamed is sent now."""
        self._close_open()
        blocks: list[Block] = []
        left = list(reply.blocks)
        ids: dict[int, str] = {}
        for item in self._items:
            block = next((block for block in left if kind_of(block) == item.kind), None)
            if block is not None:
                left = [other for other in left if other is not block]
                ids[len(blocks)] = item.id
                blocks.append(block)
        for block in left:
            place = len(blocks)
            ids[place] = item_id(kind_of(block), self._id, place)
            blocks.append(block)
        made = with_items(replace(reply, blocks=tuple(blocks)), ids, self._id)
        for block in made.blocks[len(blocks) - len(left) :]:
            self._whole(block.raw)
        return made

    def whole(self, items: list[dict[str, Json]]) -> None:
        """Send items that were not streamed, of a provider that does not stream."""
        for index, item in enumerate(items):
            self.emit("response.output_item.added", output_index=index, item=item)
            self.emit("response.output_item.done", output_index=index, item=item)

    def _whole(self, raw: Json) -> None:
        item = raw.get("openai.responses") if isinstance(raw, dict) else None
        if item is not None:
            index = len(self._items)
            self._items.append(OpenItem(item["id"], item["type"], index, None, closed=True))
            self.emit("response.output_item.added", output_index=index, item=item)
            self.emit("response.output_item.done", output_index=index, item=item)


def _part(item: OpenItem) -> dict[str, Json]:
    if item.kind == "reasoning":
        return {"type": "reasoning_text", "text": item.text}
    return text_part(Text(item.text))


def _begun(item: OpenItem) -> dict[str, Json]:
    match item.kind:
        case "message":
            return {"id": item.id, "type": "message", "status": "in_progress", "role": "assistant", "content": []}
        case "reasoning":
            return {"id": item.id, "type": "reasoning", "summary": [], "content": []}
    return call_item(item.id, item.call_id, item.name, "", "in_progress")


def _ended(item: OpenItem) -> dict[str, Json]:
    if item.kind == "function_call":
        return call_item(item.id, item.call_id, item.name, item.text, "completed")
    done = {**_begun(item), "content": [_part(item)]}
    return {**done, "status": "completed"} if item.kind == "message" else done
