"""One question, from its words to the last reply: what `run` and `chat` have in common."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from bough.errors import Busy, Invalid
from bough.model import Node, Part, Thinking, Usage, user

if TYPE_CHECKING:
    from bough.agent import Agent, Outcome
    from bough.cli.ask.choose import Choice
    from bough.cli.output.live import RunPrinter

SOON, LATE = 1.0, 900.0
"""Seconds to wait for another turn in the same session: in silence, and then at all."""


def ask(agent: Agent, choice: Choice, parts: Sequence[Part], teller: RunPrinter) -> Outcome:
    """Runs one turn of the chosen session, after the one that may be going on there.

    Raises `Invalid` when there is nothing to ask, and what the loop raises.
    """
    from bough.agent import run

    message = user(*parts) if parts else choice.question
    if message is None and choice.unfinished is None:
        raise Invalid("There is nothing to ask: write what you want to know.")

    def once(wait: float) -> Outcome:
        return run(agent, choice.session, message, resume=choice.unfinished, listener=teller, wait=wait)

    try:
        return once(SOON)
    except Busy:
        teller.note(f"Waiting for another turn in {choice.session.key} to end. -n starts a new conversation.")
        return once(LATE)
    finally:
        teller.finish()


class Terminal:
    """Whether anybody still sits at it."""

    def __init__(self) -> None:
        self.is_lost = False

    def lose(self, *_: object) -> NoReturn:
        """Does what Ctrl+C does."""
        self.is_lost = True
        raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Terminal]:
    """Lets a lost terminal, and whoever ends this process politely, do what Ctrl+C does: keep what has come."""
    terminal = Terminal()
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), terminal.lose) for name in names}
    try:
        yield terminal
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def in_json(done: Outcome, choice: Choice, agent: Agent, kept: bool) -> dict[str, Any]:
    """Everything about one turn, for a program."""
    store = choice.session.store
    nodes = [node for node in store.path(done.last) if node.turn_id == done.turn]
    info = store.turn_info(done.turn)
    return {
        "session": choice.session.key if kept else None,
        "id": done.last if kept else None,
        "turn": done.turn if kept else None,
        "status": done.status,
        "reason": done.reason,
        "text": done.text,
        "thinking": thinking(nodes),
        "tool_calls": calls(nodes),
        "model": info.model,
        "provider": agent.provider.name,
        "usage": tokens(done.usage),
        "cost": done.usage.cost,
    }


def thinking(nodes: Sequence[Node]) -> str:
    """What the model thought before it spoke."""
    return "\n".join(block.text for node in nodes for block in node.message.blocks if isinstance(block, Thinking))


def calls(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Every tool that was called, and what it answered."""
    results = {result.call_id: result for node in nodes for result in node.message.results}
    return [
        {
            "name": call.name,
            "arguments": call.arguments,
            "result": results[call.call_id].text if call.call_id in results else None,
            "error": results[call.call_id].error if call.call_id in results else None,
        }
        for node in nodes
        for call in node.message.calls
    ]


def tokens(usage: Usage) -> dict[str, int | None]:
    """How many tokens of each kind; unknown is null."""
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    return {name: getattr(usage, name) for name in names}
