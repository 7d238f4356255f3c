"""Change one line of `config.toml`, and no other."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from bough.config.keys import find_key, suggestion
from bough.config.reading import flatten, line_numbers, parse_value
from bough.errors import ConfigError


def set_value(path: Path, name: str, text: str) -> None:
    """Set a value in the file, which is created if necessary. After a `ConfigError` the file is unchanged."""
    key = find_key(name)
    if key is None:
        raise ConfigError(f"{name!r} is not a key of the configuration.{suggestion(name)}")
    given = parse_value(key, text, name)
    before = path.read_text("utf-8") if path.exists() else ""
    after = _with(before, name, toml(given))
    if not _changes_only(before, after, name, given):
        raise ConfigError(f"{name} in {path} has a form that cannot be changed automatically: use `bough config edit`.")
    write(path, after)


def write(path: Path, text: str) -> None:
    """Replace the file atomically by one that only its owner can read."""
    path = path.resolve()  # replace the target of a link, not the link
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, draft = mkstemp(dir=path.parent, prefix=f".{path.name}.")  # exclusive: it follows no link of others
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def toml(given: Any) -> str:
    """A value in TOML."""
    if isinstance(given, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {toml(one)}" for name, one in given.items()) + " }"
    if isinstance(given, list):
        return "[" + ", ".join(map(toml, given)) + "]"
    # A JSON string is a TOML string, except for DEL, which TOML forbids.
    return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with(text: str, name: str, toml_value: str) -> str:
    table, _, last = name.rpartition(".")
    numbers, lines = line_numbers(text), text.splitlines()
    if name in numbers:
        lines[numbers[name] - 1] = f"{last} = {toml_value}"
    elif table in numbers:
        lines.insert(numbers[table], f"{last} = {toml_value}")
    else:
        lines += [*([""] if lines else []), f"[{_header(table)}]", f"{last} = {toml_value}"]
    return "\n".join(lines) + "\n"


def _header(table: str) -> str:
    section, _, chosen = table.partition(".")
    plain = chosen.replace("-", "").replace("_", "").isalnum() and chosen.isascii()
    return f"{section}.{chosen if plain else json.dumps(chosen)}" if chosen else section


def _changes_only(before: str, after: str, name: str, given: Any) -> bool:
    try:
        then, now = (dict(flatten(tomllib.loads(text))) for text in (before, after))
    except tomllib.TOMLDecodeError:
        return False
    return now.get(name) == given and {**then, name: given} == now
