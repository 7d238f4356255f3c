"""Checks the integrity of a store, and repairs what can be repaired without losing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from bough.codec import decode, json_list
from bough.codec.digest import digest, full_hash
from bough.compress import decompress
from bough.db import Database, Row
from bough.db.rows import ReplyRow, TurnRow
from bough.errors import BoughError, Corrupt
from bough.model import Finding, Node
from bough.protocols import Progress
from bough.storage import leases, lookup, replies, turns
from bough.storage.outline import size
from bough.storage.rows import RunningTurn
from bough.storage.search import Load
from bough.storage.trash import payloads
from bough.storage.trash_payload import unpack

Found: TypeAlias = tuple[Finding, Callable[[], None] | None]

PAGE = 1000


def findings(
    db: Database, load: Load, now: int, progress: Progress | None = None, unreachable: bool = False
) -> Iterator[Found]:
    """The findings, each with its repair, or None if there is no safe one.

    With `unreachable`, the messages that nothing reaches are among them.

    `progress` gets, page by page, the number of messages checked and that of all.
    """
    for name, part in (
        ("file", _engine(db)),
        ("links", _links(db)),
        ("messages", _digests(db, load, progress)),
        ("blobs", _blobs(db)),
        ("sessions", _sessions(db)),
        ("turns", _turns(db, now)),
        ("replies", _replies(db)),
        ("unreachable", _unreachable(db) if unreachable else ()),
    ):
        try:
            yield from part
        except (BoughError, ValueError, TypeError, LookupError) as error:
            # The engine failed here, or returned nonsense; the other parts may still be sound.
            yield Finding("engine", name, str(error)), None


def _engine(db: Database) -> Iterator[Found]:
    for problem in db.check():
        yield Finding("engine", "file", problem), None


def _links(db: Database) -> Iterator[Found]:
    rows = db.rows("orphans")
    ids = {n: id_ for id_, n in rows}
    for id_, parent in rows:
        if lookup.header(db, parent) is None:
            yield Finding("orphan", id_, "its parent is not in the store"), None
        else:
            yield Finding("cycle", id_, f"its parent {ids.get(parent, parent)} does not come before it"), None
    for id_, counted, there in db.rows("missing_blocks"):
        yield Finding("missing_block", id_, f"it has {there} further blocks, and not {counted}"), None
    if homeless := db.rows("homeless_blocks"):
        yield (
            Finding("homeless_block", f"{len(homeless)} blocks", "they belong to no message"),
            lambda: db.run("delete_homeless_blocks"),
        )


def _digests(db: Database, load: Load, progress: Progress | None) -> Iterator[Found]:
    last, done, count = 0, 0, size(db).messages if progress else 0
    while rows := db.rows("page_up", last, PAGE, 0):
        end = max(row[decode.N] for row in rows)
        if end <= last:
            raise Corrupt("The list of messages does not go on.")
        last = end
        page = list(_nodes(rows, load))
        known = {id_: written for id_, written, _ in page}
        above = {node.parent_id for _, _, node in page if isinstance(node, Node) and node.parent_id is not None}
        known |= dict(db.rows("digests", json_list(above - known.keys())))
        for id_, _, node in page:
            if isinstance(node, BoughError):
                yield Finding("unreadable", id_, str(node)), None
                continue
            parent = known.get(node.parent_id) if node.parent_id else b""
            if parent is not None and digest(node.message, parent) != node.digest:
                yield Finding("digest", id_, "its content or its place is not what was saved"), None
        done += len(page)
        if progress:
            progress(done, count)


def _nodes(rows: list[Row], load: Load) -> Iterator[tuple[str, bytes, Node | BoughError]]:
    """Id, digest and node of each message of a page. They are loaded one by one only if that fails for the page."""
    heads, further = decode.split_rows(rows)
    try:
        nodes: list[Node | BoughError] = [*decode.read_all(load(rows))]
    except BoughError:
        nodes = [_node([head, *further.get(head[decode.N], ())], load) for head in heads]
    for head, node in zip(heads, nodes, strict=True):
        yield head[decode.ID], head[decode.DIGEST], node


def _node(rows: list[Row], load: Load) -> Node | BoughError:
    try:
        return decode.read_all(load(rows))[0]
    except BoughError as error:
        return error


def _blobs(db: Database) -> Iterator[Found]:
    for id_, position in db.rows("missing_blobs"):
        yield Finding("missing_blob", id_, f"the content of block {position} is gone"), None
    in_trash: Counter[int] = Counter()
    for entry in payloads(db):
        try:
            in_trash.update(unpack(entry.payload).blobs)
        except Corrupt as error:
            yield Finding("trash", entry.id, f"this entry cannot be read: {error}"), None
    for n, refs, held in db.rows("blob_counts"):
        right = held + in_trash[n]
        if refs != right:
            yield (
                Finding("blob_count", f"blob {n}", f"held {right} times, counted {refs}"),
                lambda n=n, right=right: db.run("set_blob_refs", right, n),  # type: ignore[misc]
            )
    last = 0
    while row := db.row("blob_page", last):
        n, expected, _, encoding, stored = row
        if n <= last:
            raise Corrupt("The list of blobs does not go on.")
        last = n
        try:
            sound = full_hash(decompress(stored) if encoding == "zstd" else stored) == expected
        except ValueError:
            sound = False
        if not sound:
            yield Finding("damaged_blob", f"blob {last}", "its content is not what was saved"), None


def _sessions(db: Database) -> Iterator[Found]:
    for session, name in db.rows("homeless_documents"):
        yield (
            Finding("homeless_document", name, "its session is not in the store"),
            lambda session=session, name=name: db.run("delete_document", session, name),  # type: ignore[misc]
        )
    for (n,) in db.rows("homeless_pins"):
        yield (
            Finding("homeless_pin", f"message {n}", "the message that is pinned is not in the store"),
            lambda n=n: db.run("delete_pin", n),  # type: ignore[misc]
        )
    for n, key in db.rows("dangling_heads"):

        def stand(n: int = n) -> None:
            (last,) = db.row("last_of_session", n) or (None,)
            turns.move_head(db, n, last)

        yield Finding("dangling_head", key, "it stands at a message that is not in the store"), stand
    for n, key in db.rows("hidden_heads"):
        yield (
            Finding("hidden_head", key, "it is not found at the message where it stands"),
            lambda n=n: db.run("place_head", n),  # type: ignore[misc]
        )


def _unreachable(db: Database) -> Iterator[Found]:
    for id_ in unreachable_ids(db):
        yield Finding("unreachable", id_, "no session, label, pin or external name reaches it"), None


def unreachable_ids(db: Database) -> list[str]:
    """The messages that no session, label, pin or external name reaches, parents first."""
    found: dict[int, str] = {}
    for n, id_, parent, is_loose_summary in db.rows("unreachable"):
        if is_loose_summary and parent is not None and parent not in found:
            continue  # it goes with the session that reaches the message before it
        found[n] = id_
    return list(found.values())


def _turns(db: Database, now: int) -> Iterator[Found]:
    for n, session in db.rows("broken_turns"):
        yield (
            Finding("broken_turn", f"turn {n}", "its messages are gone"),
            lambda n=n, session=session: _delete_turn(db, n, session),  # type: ignore[misc]
        )
    if abandoned := sum(1 for row in db.rows("running_turns") if leases.is_abandoned(RunningTurn(*row), now)):
        yield (
            Finding("abandoned_turn", f"{abandoned} turns", "they are marked as running, and their writers are gone"),
            lambda: _recover(db, now),
        )


def _delete_turn(db: Database, n: int, session: int) -> None:
    db.run("place_head", session)  # it may stand at a message of this turn
    db.run("delete_turns", json_list([n]))


def _recover(db: Database, now: int) -> None:
    leases.recover(db, now)


def _replies(db: Database) -> Iterator[Found]:
    if lost := [n for (n,) in db.rows("lost_replies")]:
        yield (
            Finding("lost_reply", f"{len(lost)} replies", "their messages are gone"),
            lambda: _forget_replies(db, lost),
        )
    for n, count in db.rows("wrong_sums"):
        yield (
            Finding("turn_sum", f"turn {n}", "its tokens and cost are not the sums of its replies"),
            lambda n=n, count=count: _correct_sums(db, n, count),  # type: ignore[misc]
        )


def _forget_replies(db: Database, lost: list[int]) -> None:
    turns_of_lost = [ReplyRow(*row).turn for row in db.rows("reply_rows", json_list(lost))]
    db.run("delete_replies", json_list(lost))
    replies.sum_turns(db, turns_of_lost)


def _correct_sums(db: Database, turn: int, count: int) -> None:
    """Sums up the replies of a turn; if there are none, its own figures become its only reply."""
    row = None if count else replies.reply_of(TurnRow(*db.rows("turn_rows", json_list([turn]))[0]))
    if row is not None:
        db.run("add_reply", *row)
    replies.sum_turns(db, [turn])
