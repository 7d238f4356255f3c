"""What a summary of a path has to cover, and how its summarizer is given it.

Every turn of a path is covered by the summary or sent with it. The number of turns to keep depends only on their
sizes, so that the next compaction is due only after the dialog has about doubled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from bough.context.fit import Counter
from bough.model import Block, Message, Node, Text, Thinking, ToolResult, user
from bough.model.tokens import estimate
from bough.model.tree import turn_starts
from bough.model.values import replace, value

Summarize: TypeAlias = Callable[[list[Node]], Message | str]
"""Makes a summary of the nodes that it is given; a former summary comes first.

If it has an attribute `window`, it is called with at most that many tokens at a time, each time with the summary so far
as the first node. An attribute `counter` counts the tokens of a message for this, instead of the estimate.
"""
SHARE = 0.5
"""Share of the budget that a request fills at most after a compaction."""
EXPECTED = 0.1
"""Share of the budget that a summary is expected to take, before it is written."""
ROUNDS = 3
"""Number of times that more turns are added to a summary that leaves less room than expected."""


@value
class Summary:
    """A summary, and the id of the last message that it covers."""

    message: Message
    covers: str
    before: int
    """Tokens of the dialog without it,"""
    after: int
    """and with it."""


def turns_to_keep(turns: Sequence[int], room: int, most: int | None = None) -> int:
    """Number of the newest turns that fit in `room` tokens, of turns of these sizes; at least one, at most `most`."""
    kept = 0
    for tokens in reversed(turns):
        room -= tokens
        if room < 0 or kept == most:
            break
        kept += 1
    return max(1, kept)


def summarize_older(
    former: Node | None,
    rest: Sequence[Node],
    summarize: Summarize,
    limit: int | None = None,
    keep_turns: int | None = None,
    counter: Counter | None = None,
) -> Summary | None:
    """A summary that covers `former` and the older turns of `rest`; None if there is only one turn, or none.

    Beside it stay the newest turns that, together with it, fill at most half of the limit, or half of what there is now
    if that is less; no more than `keep_turns`, and at least one. Without a limit, `keep_turns` alone decides.
    """
    count = counter or estimate
    turns = split_turns(rest)
    sizes = [sum(count(node.message) for node in turn) for turn in turns]
    whole = min(limit or sum(sizes), sum(sizes))
    room = int(whole * SHARE) if limit or keep_turns is None else sum(sizes)
    before = count(former.message) if former else 0
    taken = max(before, int(whole * EXPECTED)) if limit else 0
    summary, covered = former, 0
    for left in reversed(range(ROUNDS if limit else 1)):
        until = len(turns) - turns_to_keep(sizes, room - taken, keep_turns)
        if until <= covered:
            break
        if limit and not left:
            until = len(turns) - 1  # the summary has grown twice: no further attempt would be the last
        older = [node for turn in turns[covered:until] for node in turn]
        summary = add_to_summary(summary, older, summarize)
        covered, taken = until, count(summary.message)
    if not covered or summary is None or summary.covers is None:
        return None
    return Summary(summary.message, summary.covers, before + sum(sizes), taken + sum(sizes[covered:]))


def split_turns(rest: Sequence[Node]) -> list[list[Node]]:
    """The messages of a path, turn by turn."""
    starts = {node.id for node in turn_starts(rest)}
    turns: list[list[Node]] = []
    for node in rest:
        if node.id in starts:
            turns.append([])
        turns[-1].append(node)
    return turns


def add_to_summary(former: Node | None, nodes: Sequence[Node], summarize: Summarize) -> Node:
    """One summary in place of the former one and these nodes, of which there is at least one.

    They are given to the summarizer in pieces that fit its window. The nodes of the summaries between have no id.
    """
    window: int | None = getattr(summarize, "window", None)
    count: Counter = getattr(summarize, "counter", None) or estimate
    summary, left = former, deque(nodes)
    while left:
        taken = count(summary.message) if summary else 0
        # A quarter at least, so that a summary as large as the window does not make one call for each message.
        room = None if window is None else max(window - taken, window // 4, 1)
        piece = next_piece(left, room, count)
        written = summarize([*([summary] if summary else []), *piece])
        message = user(written) if isinstance(written, str) else written
        summary = Node("", None, piece[-1].created_at, message, kind="summary", covers=piece[-1].id)
    assert summary is not None
    return summary


def next_piece(left: deque[Node], room: int | None, count: Counter) -> list[Node]:
    """Take the nodes off `left` that fit in `room` tokens, at least one; a larger message is divided."""
    piece = [left.popleft()]
    if room is None:
        piece += left
        left.clear()
        return piece
    if (size := count(piece[0].message)) > room:
        first, *others = [replace(piece[0], message=part) for part in parts(piece[0].message, room, count)]
        left.extendleft(reversed(others))
        return [first]
    while left and (size := size + count(left[0].message)) <= room:
        piece.append(left.popleft())
    return piece


def parts(message: Message, room: int, count: Counter) -> list[Message]:
    """A message, divided until each part fits in `room` tokens. A call or a medium is not divided."""
    halves = divide(message) if count(message) > room else ()
    return [part for half in halves for part in parts(half, room, count)] or [message]


def divide(message: Message) -> tuple[Message, ...]:
    """The two halves of a message; none if it cannot be divided."""
    blocks = message.blocks
    if len(blocks) > 1:
        middle = len(blocks) // 2
        halves = [blocks[:middle], blocks[middle:]]
    else:
        halves = [(half,) for half in divide_block(blocks[0])] if blocks else []
    return tuple(replace(message, blocks=half, envelope=None) for half in halves)


def divide_block(block: Block) -> tuple[Block, ...]:
    """The two halves of a block, without the provider's item; none if it cannot be divided."""
    match block:
        case Text() | Thinking() if len(block.text) > 1:
            middle = len(block.text) // 2
            return tuple(replace(block, text=half, raw=None) for half in (block.text[:middle], block.text[middle:]))
        case ToolResult(content=content) if len(content) > 1:
            middle = len(content) // 2
            return tuple(replace(block, content=half, raw=None) for half in (content[:middle], content[middle:]))
        case ToolResult(content=content) if content:
            return tuple(replace(block, content=(half,), raw=None) for half in divide_block(content[0]))
    return ()
