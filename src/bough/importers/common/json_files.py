"""Files that are one JSON value: an object, or a list of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bough.errors import ImporterError
from bough.importers.common.files import Files
from bough.importers.common.json_reader import LOOKED_AT, as_utf8, json_items, read_json
from bough.model import Json, Usage
from bough.model.imported import Skipped


def json_values(files: Files, endings: tuple[str, ...] = (".json",)) -> Iterator[tuple[str, Json | Skipped]]:
    """The objects of all files with these endings, each with its place; a single file may have any name."""
    for name in files.names:
        if len(files.names) > 1 and not name.endswith(endings):
            continue
        with files.open(name) as raw:
            stream = as_utf8(raw)
            if bytes(stream.peek(LOOKED_AT)).lstrip().startswith(b"["):  # type: ignore[attr-defined]
                for number, value in enumerate(json_items(stream, name)):
                    yield f"{name}[{number}]", value
                continue
            try:
                yield name, read_json(stream, name)
            except ImporterError as error:
                yield name, Skipped(name, str(error))


def number_or_none(value: Any) -> float | None:
    """A number, such as a cost; None for anything else."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def known(usage: Usage) -> Usage | None:
    """The usage; None if it says nothing."""
    return None if usage == Usage() else usage
