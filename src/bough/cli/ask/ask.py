"""Run one turn, from the question to the last reply, for `run` and `chat`."""

from __future__ import annotations

import _thread
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from bough.cli.ask.choose import NOTHING_TO_ASK
from bough.errors import Busy, Invalid
from bough.model import Node, Part, Thinking, Usage, user

if TYPE_CHECKING:
    from bough.agent import Agent, Outcome, Stop
    from bough.cli.ask.choose import Choice
    from bough.cli.output.live import RunPrinter

SILENT_WAIT, LONGEST_WAIT = 1.0, 900.0
"""Seconds to wait for another turn of the same session: before saying so, and then at most."""


def ask(agent: Agent, choice: Choice, parts: Sequence[Part], printer: RunPrinter, stop: Stop | None = None) -> Outcome:
    """Run one turn of the chosen session; if another one is running there, wait for its end.

    Ctrl+C stops the turn, and so does `stop`. Raises `Invalid` when there is nothing to ask, `Busy` when the other turn
    does not end, and `ProviderError`.
    """
    from bough.agent import regenerate, run

    message = user(*parts) if parts else None
    if message is None and choice.unfinished is None and choice.answer_at is None:
        raise Invalid(NOTHING_TO_ASK)

    def once(wait: float, stop: Stop) -> Outcome:
        if choice.answer_at is not None:
            return regenerate(agent, choice.session, choice.answer_at, listener=printer, wait=wait, stop=stop)
        return run(agent, choice.session, message, resume=choice.unfinished, listener=printer, wait=wait, stop=stop)

    with stopped_by_ctrl_c(printer, stop) as stopped:
        try:
            return once(SILENT_WAIT, stopped)
        except Busy:
            printer.note(f"Waiting for another turn in {choice.session.key} to end. -n starts a new conversation.")
            return once(LONGEST_WAIT, stopped)
        finally:
            printer.finish()


@contextmanager
def stopped_by_ctrl_c(printer: RunPrinter, stop: Stop | None = None) -> Iterator[Stop]:
    """Let Ctrl+C stop the running turn. A second one, or one before the turn has begun, is a `KeyboardInterrupt`."""
    from bough.agent import Stop

    stop, presses = stop or Stop(), 0

    def press(*_: object) -> None:
        nonlocal presses
        presses += 1
        if printer.turn is None or presses > 1:
            raise KeyboardInterrupt
        _thread.start_new_thread(stop.set, ())  # not here: this thread may hold the locks that `set` takes

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, as in the background, or handled by the application
        yield stop
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


class Terminal:
    """State of the terminal during a turn."""

    def __init__(self) -> None:
        self.is_lost = False

    def lose(self, *_: object) -> NoReturn:
        """Handle a signal."""
        self.is_lost = True
        raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Terminal]:
    """Let SIGTERM and SIGHUP interrupt the turn, which stores the partial reply."""
    terminal = Terminal()
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), terminal.lose) for name in names}
    try:
        yield terminal
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def turn_json(done: Outcome, choice: Choice, agent: Agent, kept: bool) -> dict[str, Any]:
    """The JSON of a turn, for `--json`."""
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
        "thinking": thinking_text(nodes),
        "tool_calls": calls_json(nodes),
        "model": info.model,
        "provider": agent.provider.name,
        "usage": tokens_json(done.usage),
        "cost": done.usage.cost,
    }


def thinking_text(nodes: Sequence[Node]) -> str:
    """The model's thinking, in one text."""
    return "\n".join(block.text for node in nodes for block in node.message.blocks if isinstance(block, Thinking))


def calls_json(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Tool calls with their results."""
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


def tokens_json(usage: Usage) -> dict[str, int | None]:
    """Token counts; unknown is null."""
    names = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    return {name: getattr(usage, name) for name in names}
