"""Build a request from a path: start at the newest summary, fit to a budget, repair, encode, validate.

Trimming never changes the store. Two properties matter besides validity:

- **The same path gives the same bytes, and a path that is longer by whole turns begins with the shorter one's bytes**,
  so that a provider's prompt cache keeps hitting. The cut therefore depends only on the weights of the nodes, and moves
  in strides of two fifths of the budget: seldom, and then well below the budget.
- **The cost is proportional to what is kept.** Every node stores its weight, the estimated tokens of its whole path, so
  the cut is computed before anything is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough import formats
from bough.context.encode import encode
from bough.context.repair import Reason, RequestMessage, cancelled, repair
from bough.errors import Invalid
from bough.formats.types import ANYONE, Format, Loss, Recipient
from bough.model import Json, Message, Node, Other, Text, Thinking, ToolResult
from bough.model.tokens import estimate
from bough.model.tree import turn_starts
from bough.model.values import replace, value

STRIDE = 0.4
"""Share of the budget by which the cut moves."""
ELIDED = "[This output was left out to save space.]"
MIN_ELIDED = 200
"""Tokens of a tool_result message below which its output is not worth removing."""
UNLIMITED = 2**62

Counter = Callable[[Message], int]


@value
class Context:
    """The payload of a request, and how it was made to fit."""

    payload: Json
    format: str
    tokens: int
    """Estimate, corrected by the provider's own counts earlier on this path."""
    fits: bool
    cut: bool = False
    """Whether older turns were left out."""
    dropped: tuple[str, ...] = ()
    """The ids of the messages that were left out, and that no summary covers. Those that a store did not even load are
    read from it at first use, so that a request costs no more on a longer path."""
    elided: tuple[str, ...] = ()
    """The ids of the messages whose tool output was left out."""
    losses: tuple[Loss, ...] = ()

    lazy = "dropped"


@value
class Window:
    """The cut of a path for a budget. `base` is the weight of the last node that a summary covers."""

    limit: int
    base: int = 0

    def threshold(self, weight: int) -> int:
        """The weight before a turn from which on the turn is kept, for a path of this weight."""
        over = weight - self.base - self.limit
        if over <= 0:
            return self.base
        stride = max(1, int(self.limit * STRIDE))
        return self.base + -(-over // stride) * stride


def fit(
    nodes: Sequence[Node],
    format: str | Format,
    budget: int | None = None,
    *,
    counter: Counter | None = None,
    scale: float = 1.0,
    strict: bool = False,
    reason: Reason = cancelled,
    target: Recipient = ANYONE,
) -> Context:
    """Build the request for a path, in at most `budget` tokens if possible. The newest turn is never dropped.

    `scale` is the number of the provider's tokens per estimated token; `counter` replaces the estimate; `reason` says
    why a call has no result; `target` is the model and the server that will read it. Raises
    `Invalid` for a budget below one, and `FormatError` if the provider would refuse the result, or if `strict` and the
    format cannot express something.
    """
    if budget is not None and budget < 1:
        raise Invalid(f"A budget is at least one token, not {budget}.")
    nodes = with_weights(nodes, counter)
    summary = next((node for node in reversed(nodes) if node.kind == "summary"), None)
    covered = next((node for node in nodes if summary is not None and node.id == summary.covers), None)
    base = covered.weight if covered else 0
    rest = [node for node in nodes if node.weight > base and node.kind == "message"]
    window = Window(limit_for(budget, scale, summary, counter), base)
    return fit_window(
        summary, rest, format, window, counter=counter, scale=scale, strict=strict, reason=reason, target=target
    )


def limit_for(budget: int | None, scale: float, summary: Node | None, counter: Counter | None) -> int:
    """The budget in estimated tokens, minus the summary."""
    if budget is None:
        return UNLIMITED
    taken = (counter or estimate)(summary.message) if summary else 0
    return max(1, int(budget / scale) - taken)


def fit_window(
    summary: Node | None,
    rest: Sequence[Node],
    format: str | Format,
    window: Window,
    *,
    counter: Counter | None = None,
    scale: float = 1.0,
    strict: bool = False,
    reason: Reason = cancelled,
    target: Recipient = ANYONE,
) -> Context:
    """Like `fit`, for the loaded end of a path: its summary, if any, and whole turns. Raises `FormatError`."""
    wire = formats.get(format) if isinstance(format, str) else format
    count = counter or estimate
    kept = newest_turns(rest, window)
    items = [RequestMessage(node.id, node.message) for node in without_stale_thinking(kept, window)]
    items, elided = shrink(items, len(items) - newest_turn_length(kept), window.limit, count)
    start = [RequestMessage(summary.id, summary.message)] if summary else []
    repaired = repair([*start, *items], reason)
    orphans = dropped_results([*start, *items], repaired)
    encoded = encode([item.message for item in repaired], wire, target, strict)
    present = {item.id for item in items}
    return Context(
        encoded.payload,
        wire.name,
        tokens=round(sum(count(item.message) for item in repaired) * scale),
        fits=sum(count(item.message) for item in items) <= window.limit,
        cut=bool(rest) and window.threshold(rest[-1].weight) > window.base,
        dropped=tuple(node.id for node in rest if node.id not in present),
        elided=elided,
        losses=(*orphans, *encoded.losses) if orphans else encoded.losses,
    )


def dropped_results(items: Sequence[RequestMessage], repaired: Sequence[RequestMessage]) -> list[Loss]:
    """The results that the repair has left out. They are compared by identity, because the repair never copies them."""
    sent = {id(result.content) for item in repaired for result in item.message.results}
    return [
        Loss("orphan_dropped", f"a result of {result.call_id!r}", place)
        for place, item in enumerate(items)
        for result in item.message.results
        if id(result.content) not in sent
    ]


def with_weights(nodes: Sequence[Node], counter: Counter | None) -> list[Node]:
    """The nodes with their weights: as stored, or computed if missing or if a counter is given."""
    if nodes and counter is None and nodes[-1].weight:
        return list(nodes)
    weight, result = 0, []
    for node in nodes:
        weight += (counter or estimate)(node.message) if node.kind == "message" else 0
        result.append(replace(node, weight=weight))
    return result


def newest_turns(rest: Sequence[Node], window: Window) -> list[Node]:
    """The newest whole turns that fit; the newest one in any case."""
    if not rest:
        return []
    threshold = window.threshold(rest[-1].weight)
    places = {node.id: place for place, node in enumerate(rest)}
    starts = [places[node.id] for node in turn_starts(rest)]
    before = {place: rest[place - 1].weight if place else window.base for place in starts}
    return list(rest[next((place for place in starts if before[place] >= threshold), starts[-1]) :])


def newest_turn_length(kept: Sequence[Node]) -> int:
    starts = turn_starts(kept)
    return len(kept) - next((place for place, node in enumerate(kept) if starts and node is starts[-1]), 0)


def without_stale_thinking(kept: Sequence[Node], window: Window) -> list[Node]:
    """Remove reasoning that was produced before the cut moved, because its signature covers messages now cut off.

    The newest turn keeps its reasoning, because providers require it in the middle of a tool loop.
    """
    if not kept:
        return []
    now = window.threshold(kept[-1].weight)
    newest = len(kept) - newest_turn_length(kept)
    return [
        node
        if place >= newest or window.threshold(node.weight) == now
        else replace(node, message=without_thinking(node.message))
        for place, node in enumerate(kept)
    ]


def without_thinking(message: Message) -> Message:
    """The message without reasoning, and without the provider's raw items, which may refer to it."""
    blocks = [block for block in message.blocks if not isinstance(block, Thinking)]
    if len(blocks) == len(message.blocks):
        return message
    plain = (block if isinstance(block, Other) else replace(block, raw=None) for block in blocks)
    return replace(message, blocks=tuple(plain), envelope=None)


def shrink(
    items: list[RequestMessage], newest: int, limit: int, count: Counter
) -> tuple[list[RequestMessage], tuple[str, ...]]:
    """If the newest turn alone is too large, remove its oldest tool output, then its oldest calls and results."""
    total = sum(count(item.message) for item in items)
    if total <= limit:
        return items, ()
    # Below the limit by a stride, so that the next step of a tool loop does not move the cut again.
    goal = int(limit * (1 - STRIDE))
    items, elided = list(items), []
    for place, item in enumerate(items):
        if total <= goal:
            break
        if item.message.role == "tool_result" and count(item.message) > MIN_ELIDED and place < len(items) - 1:
            shorter = elide(item.message)
            total -= count(item.message) - count(shorter)
            items[place] = replace(item, message=shorter)
            elided.append(item.id)
    while total > limit and (span := oldest_step(items, newest)):
        total -= sum(count(item.message) for item in items[span])
        del items[span]
    return items, tuple(id_ for id_ in elided if any(item.id == id_ for item in items))


def elide(message: Message) -> Message:
    """The tool results without their content. The call ids stay, because every call needs a result."""
    return replace(
        message,
        blocks=tuple(
            replace(block, content=(Text(ELIDED),), raw=None) if isinstance(block, ToolResult) else block
            for block in message.blocks
            if not isinstance(block, Other)
        ),
        envelope=None,
    )


def oldest_step(items: Sequence[RequestMessage], newest: int) -> slice | None:
    """The oldest reply with calls and their results, unless it is the last; None if there is none."""
    for place in range(newest, len(items)):
        if items[place].message.role == "assistant" and items[place].message.calls:
            end = place + 1
            while end < len(items) and items[end].message.role == "tool_result":
                end += 1
            return slice(place, end) if end < len(items) else None
    return None
