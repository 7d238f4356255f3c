"""From a path to a request: start at the newest summary, fit to a budget, mend, encode, validate.

Trimming is a view; the store is never changed. Two properties matter beside validity:

- **The same path gives the same bytes, and a path that is longer by whole turns begins with the shorter one's bytes**,
  so that a provider's prompt cache keeps hitting. Where a cut falls therefore depends on nothing but the weights of the
  nodes: it moves in strides of two fifths of the budget, so that it seldom moves, and then goes well below the budget.
- **The cost is that of what is kept.** Every node knows the weight of its whole path, so the place of the cut is known
  before anything is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough import formats
from bough.context.repair import Step, repair
from bough.errors import FormatError, Invalid
from bough.formats.types import Format, Loss
from bough.model import Json, Message, Node, Other, Text, Thinking, ToolResult
from bough.model.tokens import estimate
from bough.model.tree import turn_starts
from bough.model.values import replace, value

STRIDE = 0.4
ELIDED = "[This output was left out to save space.]"
WORTH_ELIDING = 200
UNLIMITED = 2**62

Counter = Callable[[Message], int]


@value
class Context:
    """What goes into a request, and what was done to make it fit."""

    payload: Json
    format: str
    tokens: int
    """Estimated, and corrected by what the provider counted earlier on this path."""
    fits: bool
    cut: bool = False
    """Whether older turns were left out."""
    dropped: tuple[str, ...] = ()
    """The ids of the messages that were left out, of those that were loaded."""
    elided: tuple[str, ...] = ()
    """The ids of the messages whose tool output was left out."""
    losses: tuple[Loss, ...] = ()


@value
class Window:
    """Where a path is cut for a budget. Weights are counted from the last node that a summary covers."""

    limit: int
    base: int = 0

    def threshold(self, weight: int) -> int:
        """What must have been said before a turn begins for it to be kept, when the path has this weight."""
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
) -> Context:
    """The request for a path, in at most `budget` tokens if that is possible. The newest turn is never dropped.

    `scale` is how many of the provider's tokens one estimated token is; `counter` counts a message exactly. Raises
    `FormatError` when the result would be refused, or if `strict` and something cannot be said in this format.
    """
    if budget is not None and budget < 1:
        raise Invalid(f"A budget is at least one token, not {budget}.")
    nodes = weighed(nodes, counter)
    summary = next((node for node in reversed(nodes) if node.kind == "summary"), None)
    covered = next((node for node in nodes if summary is not None and node.id == summary.covers), None)
    base = covered.weight if covered else 0
    rest = [node for node in nodes if node.weight > base and node.kind == "message"]
    window = Window(limit_for(budget, scale, summary, counter), base)
    return fit_window(summary, rest, format, window, counter=counter, scale=scale, strict=strict)


def limit_for(budget: int | None, scale: float, summary: Node | None, counter: Counter | None) -> int:
    """The budget in estimated tokens, less what the summary takes."""
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
) -> Context:
    """As `fit`, for the end of a path: the summary it starts at, if any, and whole turns."""
    wire = formats.get(format) if isinstance(format, str) else format
    count = counter or estimate
    kept = newest_turns(rest, window)
    steps = [Step(node.id, node.message) for node in without_stale_thinking(kept, window)]
    steps, elided = shrink(steps, len(steps) - newest_length(kept), window.limit, count)
    start = [Step(summary.id, summary.message)] if summary else []
    mended = repair([*start, *steps])
    encoded = wire.encode([step.message for step in mended], strict=strict)
    if broken := wire.check(encoded.payload):
        problems = "; ".join(f"rule {violation.rule}: {violation.detail}" for violation in broken[:3])
        raise FormatError(
            f"{wire.name} would refuse this dialog ({problems}). This is a bug in bough; please report it."
        )
    present = {step.id for step in steps}
    return Context(
        encoded.payload,
        wire.name,
        tokens=round(sum(count(step.message) for step in mended) * scale),
        fits=sum(count(step.message) for step in steps) <= window.limit,
        cut=bool(rest) and window.threshold(rest[-1].weight) > window.base,
        dropped=tuple(node.id for node in rest if node.id not in present),
        elided=elided,
        losses=encoded.losses,
    )


def weighed(nodes: Sequence[Node], counter: Counter | None) -> list[Node]:
    """The nodes with the weights of their paths, where a store has not put them there or someone counts for himself."""
    if nodes and counter is None and nodes[-1].weight:
        return list(nodes)
    weight, result = 0, []
    for node in nodes:
        weight += (counter or estimate)(node.message)
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


def newest_length(kept: Sequence[Node]) -> int:
    starts = turn_starts(kept)
    return len(kept) - next((place for place, node in enumerate(kept) if starts and node is starts[-1]), 0)


def without_stale_thinking(kept: Sequence[Node], window: Window) -> list[Node]:
    """Reasoning is bound to what was before it: what was thought before the cut moved is not sent any more.

    The newest turn keeps its reasoning in any case: a provider wants it back in the middle of a tool loop.
    """
    if not kept:
        return []
    now = window.threshold(kept[-1].weight)
    newest = len(kept) - newest_length(kept)
    return [
        node
        if place >= newest or window.threshold(node.weight) == now
        else replace(node, message=unthinking(node.message))
        for place, node in enumerate(kept)
    ]


def unthinking(message: Message) -> Message:
    """The message without reasoning, and without the provider's own items, which may refer to it."""
    blocks = [block for block in message.blocks if not isinstance(block, Thinking)]
    if len(blocks) == len(message.blocks):
        return message
    plain = (block if isinstance(block, Other) else replace(block, raw=None) for block in blocks)
    return replace(message, blocks=tuple(plain), envelope=None)


def shrink(steps: list[Step], newest: int, limit: int, count: Counter) -> tuple[list[Step], tuple[str, ...]]:
    """When the newest turn alone is too big: its oldest tool output is left out, then its oldest calls and results."""
    total = sum(count(step.message) for step in steps)
    if total <= limit:
        return steps, ()
    goal = int(limit * (1 - STRIDE))
    steps, elided = list(steps), []
    for place, step in enumerate(steps):
        if total <= goal:
            break
        if step.message.role == "tool_result" and count(step.message) > WORTH_ELIDING and place < len(steps) - 1:
            shorter = elide(step.message)
            total -= count(step.message) - count(shorter)
            steps[place] = replace(step, message=shorter)
            elided.append(step.id)
    while total > limit and (span := oldest_step(steps, newest)):
        total -= sum(count(step.message) for step in steps[span])
        del steps[span]
    return steps, tuple(id_ for id_ in elided if any(step.id == id_ for step in steps))


def elide(message: Message) -> Message:
    """A tool's answer without its content; the ids stay, so the call is still answered."""
    return replace(
        message,
        blocks=tuple(
            replace(block, content=(Text(ELIDED),), raw=None) if isinstance(block, ToolResult) else block
            for block in message.blocks
            if not isinstance(block, Other)
        ),
        envelope=None,
    )


def oldest_step(steps: Sequence[Step], newest: int) -> slice | None:
    """The oldest call with its results that something follows."""
    for place in range(newest, len(steps)):
        if steps[place].message.role == "assistant" and steps[place].message.calls:
            end = place + 1
            while end < len(steps) and steps[end].message.role == "tool_result":
                end += 1
            return slice(place, end) if end < len(steps) else None
    return None
