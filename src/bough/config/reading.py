"""From a file to settings: parsed, checked against the table of keys, each with the line that says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.config.keys import NAMED, Key, Kind, find_key, suggestion
from bough.errors import ConfigError

TYPES: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    "path": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "table": (dict,),
}
WANTED: dict[Kind, str] = {
    "text": "a text in quotes",
    "path": "a path in quotes",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": 'a list of texts, as ["one", "two"]',
    "table": "a table",
}
HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]")
ASSIGNMENT = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def read(path: Path) -> dict[str, tuple[Any, int | None]]:
    """What a file sets: for every dotted name, the value and its line. Raises `ConfigError`."""
    import tomllib

    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(f"{path}: {problem}") from None
    except OSError as problem:
        raise ConfigError(f"{path} cannot be read: {problem.strerror}.") from None
    lines = line_numbers(text)
    found = {}
    for name, given in leaves(data):
        line = lines.get(name) or next((lines[one] for one in lines if one.startswith(f"{name}.")), None)
        where = f"{path}:{line}" if line else str(path)
        key = find_key(name)
        if key is None:
            raise ConfigError(f"{where}: {_unknown(name)}{suggestion(name)}")
        found[name] = (checked(key, given, f"{where}: {name}"), line)
    return found


def leaves(data: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every dotted name that is a key, or should be one. A table that is a value is one leaf."""
    for part, given in data.items():
        name = f"{before}{part}"
        key = find_key(name)
        if isinstance(given, dict) and key is None and _is_section(name):
            yield from leaves(given, f"{name}.")
        else:
            yield name, given


def checked(key: Key, given: Any, where: str) -> Any:
    """The value, if it is of the right type; raises `ConfigError` naming the place."""
    right = isinstance(given, TYPES[key.kind]) and (isinstance(given, bool) == (key.kind == "boolean"))
    if key.kind == "list" and right:
        right = all(isinstance(item, str) for item in given)
    if not right:
        raise ConfigError(f"{where} is {WANTED[key.kind]}, not {_shown(key, given)}.")
    if key.choices and given not in key.choices:
        raise ConfigError(f"{where} is one of {', '.join(key.choices)}, not {_shown(key, given)}.")
    if key.kind in ("integer", "number") and given <= 0:
        raise ConfigError(f"{where} is more than zero, not {given}.")
    return given


def parsed(key: Key, text: str, where: str) -> Any:
    """The value that a text from the environment or the command line means. Raises `ConfigError`."""
    if key.kind in ("text", "path"):
        return checked(key, text, where)
    import tomllib

    try:
        given = tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        given = [part.strip() for part in text.split(",")] if key.kind == "list" else text
    return checked(key, given, where)


def line_numbers(text: str) -> dict[str, int]:
    """On which line each table and each key is; the first line wins."""
    table, found = "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        if header := HEADER.match(line):
            table = _dotted(header[1])
            found.setdefault(table, number)
        elif assignment := ASSIGNMENT.match(line):
            found.setdefault(f"{table}.{_dotted(assignment[1])}".lstrip("."), number)
    return found


def _dotted(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def _is_section(name: str) -> bool:
    """Whether a table may stand here: `[run]`, `[agents]`, `[agents.NAME]`."""
    section, _, rest = name.partition(".")
    return not rest or (section in NAMED and find_key(f"{section}.{rest}") is None)


def _unknown(name: str) -> str:
    return f"{name!r} is not a key of the configuration."


def _shown(key: Key, given: Any) -> str:
    return "what is there" if key.secret else f"{given!r:.60}"
