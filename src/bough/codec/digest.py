"""Digests: one hash for a message and everything before it.

The digest covers the role, the error flag and the content of the blocks. It leaves out `extra`, `raw` and `envelope`,
so that a dialog which an application sends again (with its cache markers moved, or without the provider's own fields)
is recognised. It is 128 bits: it guards against accidents and careless edits, not against an adversary who may choose
both texts.
"""

from __future__ import annotations

from collections.abc import Iterable

try:
    from _blake2 import blake2b  # where hashlib has it from, without OpenSSL
except ImportError:
    from hashlib import blake2b

from bough.codec.verbatim import canonical
from bough.errors import Invalid
from bough.model import ROLES, Block, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

SIZE = 16


def short_hash(data: bytes) -> bytes:
    """A hash of 128 bits, for comparisons inside bough."""
    return blake2b(data, digest_size=SIZE).digest()


def full_hash(data: bytes) -> bytes:
    """The SHA-256 of a content, which other tools can check."""
    from hashlib import sha256  # loads OpenSSL, which takes longer than the rest of a module does

    return sha256(data).digest()


def chain(messages: Iterable[Message], parent: bytes = b"") -> list[bytes]:
    """The digest of each message of a dialog that continues from `parent`."""
    digests = []
    for message in messages:
        parent = digest(message, parent)
        digests.append(parent)
    return digests


def digest(message: Message, parent: bytes = b"") -> bytes:
    """The digest of a message that follows what `parent` is the digest of."""
    return link(parent, digest_input(message))


def link(parent: bytes, own: bytes) -> bytes:
    """The digest of a message from the digest of its parent and its own digest input."""
    return short_hash(parent + own)


def digest_input(message: Message) -> bytes:
    """The bytes that the digest of a message covers. Raises `Invalid` for anything that cannot be stored."""
    if not isinstance(message, Message) or message.role not in ROLES:
        raise Invalid(f"A message is bough.Message with a role of {', '.join(ROLES)}, not {message!r:.80}.")
    parts = [b"%b %d;" % (message.role.encode(), message.error)]
    for block in message.blocks:
        _feed(parts, block)
    return b"".join(parts)


def text_digest_input(message: Message, text: bytes) -> bytes:
    """Like `digest_input`, for a message of one text that the caller has encoded."""
    return b"%b %d;text %d:%b" % (message.role.encode(), message.error, len(text), text)


def _feed(parts: list[bytes], block: Block) -> None:
    """Adds the content of a block. Each field is preceded by its length, so different contents never look the same."""
    match block:
        case Text():
            _fields(parts, b"text", block.text)
        case Thinking():
            _fields(parts, b"thinking", block.text)
        case ToolCall():
            _fields(parts, b"call", block.call_id, block.name, block.arguments)
        case ToolResult():
            _fields(parts, b"error" if block.error else b"result", block.call_id, str(len(block.content)))
            for part in block.content:
                _feed(parts, part)
        case Media():
            if block.data is not None:
                _fields(parts, b"media", block.kind, block.mime, full_hash(block.data).hex())
            else:
                tag = b"url" if block.url is not None else b"file"
                _fields(parts, tag, block.kind, block.mime, block.url or block.file_id or "")
        case Other():
            _fields(parts, b"other", block.type, canonical(block.raw))
        case _:
            raise Invalid(f"{block!r:.80} is not a block; nothing was saved.")


def _fields(parts: list[bytes], tag: bytes, *texts: str) -> None:
    parts.append(tag)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass") if type(text) is str else encoded(text)
        parts.append(b" %d:%b" % (len(data), data))


def encoded(text: str) -> bytes:
    """Encodes any text, lone surrogates included. Raises `Invalid` for anything but a string."""
    if not isinstance(text, str):
        raise Invalid(f"The text of a block is a string, not {type(text).__name__}; nothing was saved.")
    return text.encode("utf-8", "surrogatepass")
