"""SWE-agent: `.traj` files with the history that the model saw, or the steps alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bough.errors import FormatError
from bough.formats import get
from bough.formats.payload import at, count, text_or_none
from bough.importers.common.files import open_files
from bough.importers.common.json_files import json_values, known, number_or_none
from bough.importers.common.json_reader import text_start
from bough.importers.common.linked import linked
from bough.importers.common.synthetic_ids import chained
from bough.importers.types import Importer
from bough.model import Json, Usage
from bough.model.imported import Conversation, Item, Skipped

NAME = "swe-agent"
_MARK = re.compile(r'"(trajectory|history)"\s*:\s*\[\s*\{\s*"(action|role|message_type|agent|content|observation)"')
KEPT_IN_MESSAGE = ("role", "content", "tool_calls", "name")


class SweAgent:
    """Reads trajectories, one per file."""

    name = NAME
    title = "SWE-agent"

    def recognises(self, path: Path) -> bool:
        text = text_start(path)
        if not text.startswith("{"):
            return False
        return _MARK.search(text) is not None and (path.suffix == ".traj" or '"observation"' in text)

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for place, value in json_values(files, (".traj",)):
                if isinstance(value, Skipped):
                    yield value
                elif isinstance(at(value, "history"), list) or isinstance(at(value, "trajectory"), list):
                    yield _conversation(value, place)
                else:
                    yield Skipped(place, "It has neither a history nor a trajectory.", value)

    def default_paths(self) -> list[Path]:
        return []


def _conversation(record: dict[str, Json], place: str) -> Conversation:
    history = record.get("history")
    messages = list(_of_history(history)) if isinstance(history, list) and history else list(_of_steps(record))
    name = PurePosixPath(place).stem
    ids = list(chained(messages, name))
    first = ids[0] if ids else name
    kept = {key: record[key] for key in ("info", "environment", "replay_config") if record.get(key)}
    model = text_or_none(at(record, "info", "model")) or text_or_none(at(record, "replay_config", "agent", "model"))
    return Conversation(
        NAME, f"{name}:{first[:12]}", _items(messages, ids, place, record), title=name, model=model,
        extra={NAME: kept} if kept else None,
    )  # fmt: skip


def _of_history(history: list[Json]) -> Iterator[Json]:
    """The messages in OpenAI's shape."""
    for entry in history:
        if not isinstance(entry, dict):
            yield entry
            continue
        message = {key: entry[key] for key in KEPT_IN_MESSAGE if entry.get(key) is not None}
        ids = entry.get("tool_call_ids")
        if entry.get("role") == "tool" and isinstance(ids, list) and ids:
            message["tool_call_id"] = ids[0]
        yield message


def _of_steps(record: dict[str, Json]) -> Iterator[Json]:
    """The steps as a dialog: what the model answered, and what the environment answered to it."""
    for step in record.get("trajectory") or ():
        if not isinstance(step, dict):
            yield step
            continue
        said = text_or_none(step.get("response"))
        if not said:
            said = "\n\n".join(text for key in ("thought", "action") if (text := text_or_none(step.get(key))))
        yield {"role": "assistant", "content": said}
        yield {"role": "user", "content": text_or_none(step.get("observation")) or ""}


def _items(messages: list[Json], ids: list[str], place: str, record: dict[str, Json]) -> Iterator[Item]:
    decode, parent = get("openai.chat").decode, None
    replies = [number for number, message in enumerate(messages) if at(message, "role") == "assistant"]
    for number, (message, id) in enumerate(zip(messages, ids, strict=True)):
        try:
            decoded = decode([message]).messages
        except FormatError as error:
            yield Skipped(f"{place}.history[{number}]", str(error), message)
            continue
        # Tokens are those of the whole run; they are on its last reply, so that sums are right.
        usage = _usage(at(record, "info", "model_stats")) if replies[-1:] == [number] else None
        made = linked(id, decoded, parent, None, usage=usage)
        parent = made[-1].id if made else parent
        yield from made


def _usage(stats: Json) -> Usage | None:
    cost = number_or_none(at(stats, "instance_cost"))
    return known(Usage(count(stats, "tokens_sent"), count(stats, "tokens_received"), cost=cost))


IMPORTER: Importer = SweAgent()
