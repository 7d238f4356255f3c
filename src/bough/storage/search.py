"""Full-text search, with an index that a search updates first.

Saving costs nothing: a search first indexes the messages since the last one. What SQLite's tokenizer does not treat as
words is spelled out, both in the index and in queries: each character of a script that is written without spaces is a
word, an emoji is a word, and so are the signs that make `C` into `C++`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from bough.codec import json_list
from bough.codec.decode import TURN, N, messages, split_rows
from bough.db import Database, Row, Value
from bough.errors import Corrupt
from bough.model import Block, Hit, Media, Message, Node, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.search import IndexStatus
from bough.storage.rows import IndexState

Load: TypeAlias = Callable[[Sequence[Row]], list[Node]]

FORMAT = 1
"""Incremented when `spell_out` changes: the index is then rebuilt."""
PAGE = 1_000
"""Messages that one transaction indexes: some tens of milliseconds of work."""
LONGEST = 500_000
SNIPPET = 160

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SIGNS = "\u2190-\u2bff\U0001f000-\U0001faff"
# A pattern, not compiled: `re` compiles and keeps it at first use, which `import bough` need not pay for. It begins
# with one set of characters, so that `re` scans past everything else; what is around the character is looked at only
# then (docs/decisions/0032).
_SPECIAL = (
    rf"[{_UNSPACED}{_SIGNS}+#]"
    rf"(?:(?P<letter>(?<=[{_UNSPACED}]))|(?P<sign>(?<=[{_SIGNS}]))|(?P<plusplus>(?<=\w\+)\+)|(?P<sharpsign>(?<=\w#)))"
)


def spell_out(text: str) -> str:
    """The text as it is indexed."""
    if text.isascii():
        return re.sub(_SPECIAL, _special, text) if "+" in text or "#" in text else text
    return re.sub(_SPECIAL, _special, text.encode("utf-8", "replace").decode())


def _special(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "letter":
            return f" {match[0]} "
        case "sign":
            return f" sign{ord(match[0]):x} "
        case name:
            return f" {name} "


def words_of(message: Message) -> str:
    """All text of a message that is indexed."""
    return "\n".join(text for block in message.blocks if (text := _words(block)))[:LONGEST]


def _words(block: Block) -> str:
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            return f"{block.name} {block.arguments}"
        case ToolResult():
            return "\n".join(filter(None, map(_words, block.content)))
        case Media():
            return block.name or block.url or ""
        case Other():
            return ""


def snippet(text: str, words: str) -> str:
    """The text around the first of the words, on one line."""
    place, length, lowered = len(text), 0, text.lower()
    for word in words.split():
        bare = word.strip("\"'.,;:!?()")
        if bare and 0 <= (found := _place(bare, text, lowered)) < place:
            place, length = found, len(bare)
    if place == len(text):
        place = 0
    start = max(0, place - (SNIPPET - length) // 2)
    piece = text[start : start + SNIPPET]
    before, after = "…" if start else "", "…" if start + SNIPPET < len(text) else ""
    return before + " ".join(piece.split()) + after


def _place(word: str, text: str, lowered: str) -> int:
    """The offset of a word in a text, in any case; -1 if it does not occur."""
    if len(lowered) == len(text) and (found := lowered.find(word.lower())) >= 0:
        return found
    # Some letters change the length of a text with their case, and some have two lower-case forms.
    match = re.search(re.escape(word), text, re.IGNORECASE)
    return match.start() if match else -1


def is_behind(db: Database) -> bool:
    index = state(db)
    return index.indexed < index.newest or index.format != FORMAT


def state(db: Database) -> IndexState:
    row = db.row("search_state")
    assert row is not None
    return IndexState(*row)


def waiting(db: Database) -> int:
    """The number of messages that are not indexed."""
    return index_status(db).waiting if is_behind(db) else 0


def index_status(db: Database) -> IndexStatus:
    """How far the index is."""
    index = state(db)
    indexed = index.indexed if index.format == FORMAT else 0
    row = db.row("index_status", indexed)
    assert row is not None
    return IndexStatus(row[0], 1.0 if indexed >= index.newest else indexed / index.newest, row[1])


def index_page(db: Database) -> bool:
    """Indexes the next messages, in the caller's transaction; whether there may be more."""
    indexed, index_format, newest = state(db)
    if index_format != FORMAT:
        clear(db)
        indexed = 0
    rows = db.rows("unindexed", indexed, PAGE)
    db.run_many("index_words", _entries(db, rows))
    reached = max((row[N] for row in rows), default=newest)
    if reached <= indexed < newest:
        raise Corrupt("The list of messages does not go on; the file is damaged. Run verify().")
    db.run("set_indexed", reached, FORMAT)
    return bool(reached < newest)


def clear(db: Database) -> None:
    """Empties the index; the next search builds it again."""
    db.run("clear_index")
    db.run("set_indexed", 0, FORMAT)


def unindex(db: Database, numbers: Sequence[int]) -> None:
    """Takes messages, which are about to be deleted, out of the index."""
    if db.index_has_keys:
        db.run("unindex", json_list(numbers))
    else:
        _for_indexed(db, "unindex", numbers)


def merge_some(db: Database, pages: int) -> bool:
    """Merges about so many pages of the index, which removes the words of deleted messages; whether there are more.

    A merge of the whole index begins with a negative number.
    """
    (before,) = db.row("rows_written") or (0,)
    db.run("merge_some", pages)
    (after,) = db.row("rows_written") or (0,)
    return bool(after - before >= 2)  # a merge that finds nothing to do writes one row


def reindex(db: Database, numbers: Sequence[int]) -> None:
    """Indexes restored messages with numbers that the index has passed already."""
    _for_indexed(db, "index_words", numbers)


def _for_indexed(db: Database, statement: str, numbers: Sequence[int]) -> None:
    """Runs a statement with the words of those messages that the index has passed."""
    index = state(db)
    passed = [n for n in numbers if n <= index.indexed]
    if index.format != FORMAT:
        return  # the next search builds it again
    try:
        for start in range(0, len(passed), PAGE):
            rows = db.rows("nodes", json_list(passed[start : start + PAGE]))
            db.run_many(statement, _entries(db, rows))
    except Corrupt:  # the words of damaged content are unknown
        clear(db)


def _entries(db: Database, rows: Sequence[Row]) -> list[tuple[int, Value]]:
    """The numbers and words of the messages of some rows; a message without words has no entry."""
    texts = [(n, spell_out(words_of(message))) for n, message in messages(rows)]
    return [(n, db.words(text)) for n, text in texts if text]


def hits(db: Database, numbers: list[int], words: str, session: str | None, paths: bool, load: Load) -> list[Hit]:
    """The hits for these messages, in this order, with snippets. Their session is the one that was searched, if any."""
    rows = db.rows("nodes", json_list(numbers))
    turn_of = {head[N]: head[TURN] for head in split_rows(rows)[0]}
    node_of = dict(zip(turn_of, load(rows), strict=True))
    session_of: dict[int, str] = dict(db.rows("sessions_of_turns", json_list(set(turn_of.values()) - {None})))
    path_of: dict[int, list[str]] = {}
    for n, id_ in db.rows("paths", json_list(numbers)) if paths else ():
        path_of.setdefault(n, []).append(id_)
    return [
        Hit(
            node,
            snippet(words_of(node.message), words),
            session or session_of.get(turn_of[n]),
            tuple(path_of.get(n, ())),
        )
        for n in numbers
        if (node := node_of.get(n))
    ]
