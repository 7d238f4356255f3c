"""Read `config.toml`: parse it, check it against the table of keys, and find the line of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.config.keys import NAMED, SECTIONS, ConfigKey, Kind, find_key, suggestion
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
    "text": "a string in quotes",
    "path": "a path in quotes",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": 'a list of strings, as ["one", "two"]',
    "table": "a table",
}
HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]")
ASSIGNMENT = re.compile(r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def read(path: Path) -> dict[str, tuple[Any, int | None]]:
    """The values of a file with their lines, by dotted name. Raises `ConfigError`."""
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
    for name, given in flatten(data):
        line = lines.get(name) or next((lines[one] for one in lines if one.startswith(f"{name}.")), None)
        where = f"{path}:{line}" if line else str(path)
        key = find_key(name)
        if key is None and name in SECTIONS:
            raise ConfigError(f"{where}: {name!r} is a table, not a value; write [{name}], and its keys below it.")
        if key is None:
            raise ConfigError(f"{where}: {_unknown(name)}{suggestion(name)}")
        found[name] = (check_value(key, given, f"{where}: {name}"), line)
    return found


def flatten(data: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values, of unknown keys too. A table that is the value of a key is one leaf."""
    for part, given in data.items():
        name = f"{before}{part}"
        key = find_key(name)
        if isinstance(given, dict) and key is None and _is_section(name):
            yield from flatten(given, f"{name}.")
        else:
            yield name, given


def check_value(key: ConfigKey, given: Any, where: str) -> Any:
    """The value itself, if it is valid for the key. Raises `ConfigError`, which starts with `where`."""
    right = isinstance(given, TYPES[key.kind]) and (isinstance(given, bool) == (key.kind == "boolean"))
    if key.kind == "list" and right:
        right = all(isinstance(item, str) for item in given)
    if not right:
        raise ConfigError(f"{where} must be {WANTED[key.kind]}, not {_shown(key, given)}.")
    if key.choices and given not in key.choices:
        raise ConfigError(f"{where} must be one of {', '.join(key.choices)}, not {_shown(key, given)}.")
    if key.kind in ("integer", "number") and given <= 0:
        raise ConfigError(f"{where} must be greater than zero, not {given}.")
    return given


def parse_value(key: ConfigKey, text: str, where: str) -> Any:
    """Parse a value from the environment or the command line. Raises `ConfigError`."""
    if key.kind in ("text", "path"):
        return check_value(key, text, where)
    import tomllib

    try:
        given = tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        given = [part.strip() for part in text.split(",")] if key.kind == "list" else text
    return check_value(key, given, where)


def line_numbers(text: str) -> dict[str, int]:
    """The first line of each table and key."""
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
    """Whether this can be a table: `[run]`, `[agents]`, `[agents.NAME]`."""
    section, _, rest = name.partition(".")
    return not rest or (section in NAMED and find_key(f"{section}.{rest}") is None)


def _unknown(name: str) -> str:
    return f"{name!r} is not a key of the configuration."


def _shown(key: ConfigKey, given: Any) -> str:
    return "the present value" if key.secret else f"{given!r:.60}"
