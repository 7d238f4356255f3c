"""Agent trajectories in the format of Harbor (ATIF), which bough exports too: one dialog as numbered steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import at, count, text_or_none, written
from bough.importers.common.files import open_files
from bough.importers.common.json_files import json_values, known, number_or_none
from bough.importers.common.json_reader import text_start
from bough.importers.common.linked import linked
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_any
from bough.importers.common.titles import shortened
from bough.importers.types import Importer
from bough.model import Block, Json, Message, Other, Text, Thinking, ToolCall, ToolResult, Usage
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

NAME = "atif"
_MARK = re.compile(r'"schema_version"\s*:\s*"ATIF-')


class Atif:
    """Reads trajectories, one per file."""

    name = NAME
    title = "Agent trajectories (ATIF)"

    def recognises(self, path: Path) -> bool:
        text = text_start(path)
        return text.startswith("{") and _MARK.search(text) is not None

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for place, value in json_values(files):
                if isinstance(value, Skipped):
                    yield value
                elif isinstance(value, dict) and isinstance(value.get("steps"), list):
                    yield _conversation(value, place)
                else:
                    yield Skipped(place, "It is not a trajectory: it has no steps.", value)

    def default_paths(self) -> list[Path]:
        return []


def _conversation(trajectory: dict[str, Json], place: str) -> Conversation:
    session = text_or_none(trajectory.get("session_id")) or text_or_none(trajectory.get("trajectory_id"))
    items = list(_items(trajectory, session or place, place))
    said = (item.message for item in items if isinstance(item, ImportedMessage))
    prompt = next((message.text for message in said if message.role == "user"), "")
    agent = text_or_none(at(trajectory, "agent", "name"))
    kept = {key: trajectory[key] for key in ("agent", "notes", "final_metrics", "extra") if trajectory.get(key)}
    return Conversation(
        NAME,
        session or place,
        items,
        title=text_or_none(at(trajectory, "extra", "title")) or shortened(prompt),
        model=text_or_none(at(trajectory, "agent", "model_name")),
        agent=None if agent == "bough" else agent,
        extra={NAME: kept} if kept else None,
    )


def _items(trajectory: dict[str, Json], session: str, place: str) -> Iterator[Item]:
    parent = None
    usual = text_or_none(at(trajectory, "agent", "model_name"))
    steps = trajectory["steps"]
    for number, (step, chain) in enumerate(zip(steps, chained(steps, session), strict=True)):
        if not isinstance(step, dict):
            yield Skipped(f"{place}.steps[{number}]", "It is not an object.", step)
            continue
        own = text_or_none(at(step, "extra", "id"))
        made = linked(
            f"{session}:{own or chain}", _messages(step), parent, from_any(step.get("timestamp")),
            model=text_or_none(step.get("model_name")) or usual, usage=_usage(step.get("metrics")),
        )  # fmt: skip
        parent = made[-1].id if made else parent
        yield from made


def _messages(step: dict[str, Json]) -> list[Message]:
    blocks = _blocks(step.get("message"))
    results = tuple(_results(at(step, "observation", "results")))
    if step.get("source") != "agent":
        role = "user" if step.get("source") == "user" else "system"
        made = [Message("user" if role == "user" else "system", blocks)]
    else:
        reasoning = text_or_none(step.get("reasoning_content"))
        thinking: tuple[Block, ...] = (Thinking(reasoning),) if reasoning else ()
        given = step.get("tool_calls")
        calls = tuple(_call(call) for call in (given if isinstance(given, list) else ()))
        made = [Message("assistant", (*thinking, *blocks, *calls))]
    return [*made, Message("tool_result", results)] if results else made


def _blocks(content: Json) -> tuple[Block, ...]:
    """Text, or parts of newer versions, of which images are named by a path."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    parts = content if isinstance(content, list) else []
    return tuple(
        Text(part["text"]) if isinstance(at(part, "text"), str) else Other("part", {NAME: part}) for part in parts
    )


def _call(call: Json) -> ToolCall:
    arguments = at(call, "arguments")
    # An export has arguments that are no object under the key `input`.
    raw = arguments.get("input") if isinstance(arguments, dict) and arguments.keys() == {"input"} else None
    is_text = isinstance(raw, str) and not raw.lstrip().startswith("{")
    text = raw if is_text and isinstance(raw, str) else written(arguments or {})
    return ToolCall(str(at(call, "tool_call_id")), str(at(call, "function_name")), text)


def _results(results: Json) -> Iterator[ToolResult]:
    for number, result in enumerate(results if isinstance(results, list) else ()):
        content = tuple(block for block in _blocks(at(result, "content")) if isinstance(block, (Text, Other)))
        yield ToolResult(text_or_none(at(result, "source_call_id")) or f"observation_{number}", content)


def _usage(metrics: Json) -> Usage | None:
    return known(
        Usage(
            count(metrics, "prompt_tokens"),
            count(metrics, "completion_tokens"),
            count(metrics, "cached_tokens"),
            cost=number_or_none(at(metrics, "cost_usd")),
        )
    )


IMPORTER: Importer = Atif()
