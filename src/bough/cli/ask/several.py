"""Ask several models the same question: sibling answers, shown side by side or one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from bough.cli.ask.ask import LONGEST_WAIT, stopped_by_ctrl_c, turn_json
from bough.cli.ask.choose import NOTHING_TO_ASK
from bough.cli.output import console
from bough.cli.output.live import RunPrinter
from bough.cli.output.text import one_line, sanitize, truncate
from bough.errors import Invalid
from bough.model import user

if TYPE_CHECKING:
    from bough.agent import Agent, Event, Outcome
    from bough.cli.ask.choose import Choice
    from bough.model import Part

MIN_COLUMN = 38
"""Cells of a column; where there is less room, the answers follow one another."""


def ask_several(agents: Sequence[Agent], choice: Choice, parts: Sequence[Part], printer: RunPrinter) -> list[Outcome]:
    """Ask all agents at the same time; their outcomes. Raises `Invalid`, `Busy`, and what `Session.answers` raises."""
    from bough.agent import Began, Replied, run_several

    if choice.unfinished is not None or not (parts or choice.answer_at):
        raise Invalid(NOTHING_TO_ASK if choice.unfinished is None else "A turn is taken up again by one model.")
    lock, waiting = threading.Lock(), {agent.provider.model for agent in agents}

    def listener(index: int, event: Event) -> None:
        with lock:
            if isinstance(event, Began):
                printer.turn = event.turn
            if isinstance(event, Replied):
                waiting.discard(agents[index].provider.model)
                if waiting:
                    printer.note(f"{agents[index].provider.model} has answered; {', '.join(sorted(waiting))} …")

    message = user(*parts) if parts else None
    with stopped_by_ctrl_c(printer) as stop:
        return run_several(
            agents, choice.session, message, at=choice.answer_at if message is None else None, listener=listener,
            stop=stop, wait=LONGEST_WAIT,
        )  # fmt: skip


def several_json(
    outcomes: Sequence[Outcome], agents: Sequence[Agent], choice: Choice, kept: bool
) -> list[dict[str, Any]]:
    """The JSON of all answers, in the order of the models."""
    return [
        {**turn_json(one, choice, agent, kept), "error": one.error}
        for one, agent in zip(outcomes, agents, strict=True)
    ]  # fmt: skip


def print_several(outcomes: Sequence[Outcome], agents: Sequence[Agent], raw: bool, kept: bool) -> None:
    """Print the answers: in columns on a terminal that is wide enough, else one after the other."""
    texts = [one.text or f"({one.error or one.status})" for one in outcomes]
    heads = [
        f"{agent.provider.name}:{agent.provider.model}" + (f" [{one.last}]" if kept and one.message else "")
        for one, agent in zip(outcomes, agents, strict=True)
    ]
    room = (console.columns() - 3 * (len(texts) - 1)) // len(texts)
    if raw or not console.has_colour() or room < MIN_COLUMN:
        console.print_lines(stacked(heads, texts, raw))
    else:
        console.print_lines(columns(heads, texts, room))


def stacked(heads: Sequence[str], texts: Sequence[str], raw: bool) -> Iterator[str]:
    from bough.cli.output.transcript import text_lines

    for number, (head, text) in enumerate(zip(heads, texts, strict=True)):
        if number:
            yield ""
        yield console.styled(one_line(head), "bold")
        yield from sanitize(text).split("\n") if raw else text_lines(text)


def columns(heads: Sequence[str], texts: Sequence[str], room: int) -> Iterator[str]:
    """Rendered answers in columns of `room` cells."""
    from bough.cli.output.transcript import text_lines

    with console.in_pane(room):
        rendered = [text_lines(text) for text in texts]
    titles = [console.styled(truncate(one_line(head), room), "bold") for head in heads]
    rule = console.styled(" │ ", "dim")
    for cells in (titles, *zip_longest(*rendered, fillvalue="")):
        yield rule.join(padded(cell, room) for cell in cells).rstrip()


def padded(line: str, room: int) -> str:
    """A line with escape sequences in `room` cells."""
    from bough.cli.output.text import width

    return line + " " * max(room - width(console.without_escapes(line)), 0)
