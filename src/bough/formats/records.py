"""Lines of bough's own files: sessions, replies, turns, external names, pins and documents, beside messages.

`{"session": {…}}`, `{"reply": {…}}`, `{"turn": {…}}`, `{"name": {…}}`, `{"pin": {…}}` and `{"document": {…}}`, each
with the fields that have a value. A line without any of these keys is a node.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

from bough.errors import FormatError
from bough.formats.jsonl import decode_node, encode_node
from bough.formats.media import from_base64, to_base64
from bough.formats.payload import as_dict
from bough.model import Document, ExternalName, Json, Node, Pin, ReplyInfo, SessionInfo, Status, TurnInfo, Usage
from bough.model.ids import is_plain

Record: TypeAlias = Node | SessionInfo | ReplyInfo | TurnInfo | ExternalName | Pin | Document

KINDS: dict[str, type[SessionInfo | ReplyInfo | TurnInfo | ExternalName | Pin | Document]] = {
    "session": SessionInfo,
    "reply": ReplyInfo,
    "turn": TurnInfo,
    "name": ExternalName,
    "pin": Pin,
    "document": Document,
}
DERIVED = {"channel", "channel_id", "cursor"}
"""Fields that are derived from the session's key or its place in the list."""
REQUIRED = {
    "session": ("key",),
    "reply": ("message_id",),
    "turn": ("id", "last_id", "status"),
    "name": ("kind", "value"),
    "pin": ("message_id",),
    "document": ("session", "name"),
}
BLANK: dict[str, dict[str, Json]] = {
    "session": {"channel": None, "channel_id": None, "head_id": None, "revision": 0},
    "reply": {"turn_id": None, "session": None},
    "turn": {"session": None, "parent_id": None},
    "name": {},
    "pin": {"pinned_at": 0},
}
"""Fields that a line may lack and the value has no default for."""
NUMBERS = {"revision", "created_at", "updated_at", "started_at", "first_token_at", "finished_at", "context_tokens",
           "pinned_at", "expires_at", "expires_after",
           "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"}  # fmt: skip
JSON_FIELDS = {"extra", "metadata"}
FREE_TEXT = {"title", "directory", "error", "value"}
"""Fields that take any text. The others are plain, because PostgreSQL's TEXT refuses some characters, such as NUL."""
MAX_DEPTH = 100


def encode_record(record: Record) -> dict[str, Json]:
    """Encode a record as the object of a line."""
    if isinstance(record, Node):
        return encode_node(record)
    if isinstance(record, Document):
        return {"document": _encode_document(record)}
    kind = next(kind for kind, cls in KINDS.items() if isinstance(record, cls))
    fields = {name: _encode_field(getattr(record, name)) for name in record.__match_args__ if name not in DERIVED}
    return {kind: {name: field for name, field in fields.items() if field is not None}}


def _encode_document(document: Document) -> dict[str, Json]:
    content = {"bytes": to_base64(document.value)} if isinstance(document.value, bytes) else {"json": document.value}
    place = {"session": document.session, "name": document.name}
    return {**place, "revision": document.revision, "updated_at": document.updated_at, **content}


def _decode_document(fields: dict[str, Json], where: str) -> Document:
    value: Any = fields.get("json")
    if "bytes" in fields and (value := from_base64(fields["bytes"])) is None:
        raise FormatError(f"{where}.document.bytes is not base64.")
    if not _is_shallow(value):
        raise FormatError(f"{where}.document.json is nested too deeply.")
    revision, updated_at = (_decode_field(name, fields.get(name, 1), where) for name in ("revision", "updated_at"))
    return Document(fields["name"], value, revision, updated_at, fields["session"])


def _encode_field(field: Any) -> Json:
    if isinstance(field, Usage):
        counts = {name: getattr(field, name) for name in field.__match_args__}
        return {name: count for name, count in counts.items() if count is not None} or None
    return field.hex() if isinstance(field, bytes) else field


def decode_record(item: Json, where: str) -> Record:
    """Decode the object of a line. Raises `FormatError`."""
    item = as_dict(item, where)
    kind = next((kind for kind in KINDS if kind in item and "role" not in item), None)
    if kind is None:
        return decode_node(item, where)
    fields = as_dict(item[kind], f"{where}.{kind}")
    for name in REQUIRED[kind]:
        if not isinstance(fields.get(name), str):
            raise FormatError(f"{where}.{kind} has no {name}.")
    if kind == "document":
        return _decode_document(fields, where)
    known = {
        name: _decode_field(name, field, where) for name, field in fields.items() if name in KINDS[kind].__match_args__
    }
    if kind == "turn" and known["status"] not in get_args(Status):
        raise FormatError(f"{where}.turn has the status {known['status']!r}, which bough does not know.")
    return KINDS[kind](**(BLANK[kind] | known))


def _decode_field(name: str, field: Json, where: str) -> Any:
    if name == "usage":
        counts = as_dict(field, f"{where}.usage")
        return Usage(
            **{key: count for key, count in counts.items() if key in Usage.__match_args__ and _is_count(count)}
        )
    if name == "instructions_digest":
        try:
            return bytes.fromhex(field)
        except (ValueError, TypeError):
            raise FormatError(f"{where}.{name} is not a digest.") from None
    if not _fits(name, field):
        raise FormatError(f"{where}.{name} cannot be {field!r:.40}.")
    return field


def _fits(name: str, field: Json) -> bool:
    if name in NUMBERS:
        return isinstance(field, int) and abs(field) < 2**62
    if name in JSON_FIELDS:
        return _is_shallow(field)
    return field is None or (isinstance(field, str) and (name in FREE_TEXT or is_plain(field)))


def _is_shallow(field: Json) -> bool:
    """Whether the depth of nesting is at most `MAX_DEPTH`; deeper JSON would exhaust the stack of `json`."""
    layer, depth = [field], 0
    while layer and depth <= MAX_DEPTH:
        inside = [list(part.values()) if isinstance(part, dict) else part for part in layer]
        layer = [part for parts in inside if isinstance(parts, list) for part in parts]
        depth += 1
    return not layer


def _is_count(count: Json) -> bool:
    return isinstance(count, (int, float)) and not isinstance(count, bool) and abs(count) < 2**62
