"""Turn the messages of a record into a conversation. Ids are hashes of a message and all before it."""

from __future__ import annotations

from collections.abc import Iterator

from bough.errors import FormatError
from bough.formats import get
from bough.formats.payload import text_or_none
from bough.importers.chats.shapes import RawDialog
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_any
from bough.model import Json, Message
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

OPENAI = "openai-chat"
OTHERS = "chats"
"""Sources: the first is older, and chats in OpenAI's own shape keep it, so that they are recognised."""
IDS = ("id", "conversation_id", "custom_id", "conversation_hash", "session_id", "question_id")
TIMES = ("created_at", "timestamp", "create_time", "created", "time", "date", "tstamp")


def conversation(dialog: RawDialog, place: str) -> Conversation:
    """A conversation of one record. Without an id of its own, it has that of its first reply."""
    is_openai = dialog.format == "openai.chat"
    names = list(chained(dialog.items)) if is_openai else []
    items = _openai_items(dialog, names, place) if is_openai else _items(dialog, place)
    read = list(items)
    first = next((one.id for one in read if isinstance(one, ImportedMessage) and one.message.role == "assistant"), None)
    first = first or next((one.id for one in read if isinstance(one, ImportedMessage)), place)
    given = next((str(dialog.about[key]) for key in IDS if isinstance(dialog.about.get(key), (str, int))), None)
    return Conversation(
        OPENAI if is_openai and dialog.as_written else OTHERS, given or first, read,
        title=text_or_none(dialog.about.get("title")), model=_model(dialog),
        created_at=time_of(dialog.about), extra=dialog.about or None,
    )  # fmt: skip


def time_of(fields: dict[str, Json]) -> int | None:
    return next((time for key in TIMES if (time := from_any(fields.get(key))) is not None), None)


def _model(dialog: RawDialog) -> str | None:
    return text_or_none(dialog.about.get("model"))


def _openai_items(dialog: RawDialog, ids: list[str], place: str) -> Iterator[Item]:
    decode, parent = get("openai.chat").decode, None
    for number, (item, id) in enumerate(zip(dialog.items, ids, strict=True)):
        try:
            decoded = decode([item]).messages
        except FormatError as error:
            yield Skipped(f"{place}.messages[{number}]", str(error), item)
            continue
        for part, message in enumerate(decoded):
            message_id = f"{id}.{part}" if part else id
            yield _imported(message_id, message, parent, dialog, item)
            parent = message_id


def _items(dialog: RawDialog, place: str) -> Iterator[Item]:
    """The messages of a format whose items may belong together, such as reasoning and the reply after it."""
    decode = get(dialog.format).decode
    skipped: list[Skipped] = []
    try:
        payload = {"history": dialog.items} if dialog.format == "qdeveloper" else dialog.items
        messages = list(decode(payload).messages)
    except FormatError:
        messages = []
        for number, item in enumerate(dialog.items):
            try:
                messages += decode([item]).messages
            except FormatError as error:
                skipped.append(Skipped(f"{place}.messages[{number}]", str(error), item))
    yield from skipped
    parent = None
    one_each = len(messages) == len(dialog.items)
    for number, (message, id) in enumerate(zip(messages, chained(_values(messages)), strict=True)):
        item = dialog.items[number] if one_each else None
        yield _imported(id, message, parent, dialog, item)
        parent = id


def _values(messages: list[Message]) -> list[Json]:
    payload = get("bough.jsonl").encode(messages).payload
    return payload if isinstance(payload, list) else []


def _imported(id: str, message: Message, parent: str | None, dialog: RawDialog, item: Json) -> ImportedMessage:
    fields = item if isinstance(item, dict) else {}
    is_reply = message.role == "assistant"
    model = text_or_none(fields.get("model")) or _model(dialog)
    return ImportedMessage(id, message, parent, time_of(fields), model=model if is_reply else None)
