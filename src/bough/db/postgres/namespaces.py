"""Puts statements that know of no namespace into one.

The statements are written once, for every engine. On PostgreSQL each table that one reads becomes the part of it that
belongs to the namespace, and each row that one writes begins with the namespace, which is `$1` in all of them.

The planner cannot know how much a namespace holds: between a bulk load and the next ANALYZE it takes it for a few rows,
and would read all of them for each row that it joins. So what the statements mean as a lookup (CROSS JOIN, LEFT JOIN,
EXISTS) stays one: OFFSET 0 keeps the planner from turning it into anything else.
"""

from __future__ import annotations

import re

from bough.db import read_text

TABLES = re.findall(r"CREATE TABLE bough\.(\w+)", read_text("schema", "postgres.sql"))
ENDS = "ON|WHERE|JOIN|LEFT|CROSS|ORDER|GROUP|LIMIT|UNION|RETURNING"
"""What cannot be the alias of a table, and what ends a condition."""


def in_namespace(statement: str) -> str:
    """The statement as PostgreSQL takes it, about one namespace."""
    statement = numbered(" ".join(statement.split())).replace(":namespace", "$1")
    # A list is an array here, and a parameter that may be NULL has a type all the same.
    statement = re.sub(r"json_each\((\$\d+)\) names", r"unnest(CAST(\1 AS text[])) names (value)", statement)
    statement = re.sub(r"json_each\((\$\d+)\)(?: wanted)?", r"unnest(CAST(\1 AS bigint[])) wanted (value)", statement)
    statement = re.sub(r"(\$\d+) IS NULL OR", r"CAST(\1 AS text) IS NULL OR", statement)
    if written := re.match(r"(UPDATE|DELETE FROM) (\w+)\b", statement):
        table, rest = written[2], statement[written.end() :]
        return f"{written[1]} bough.{table} AS {table}{_narrowed(rest, table)}"
    if re.match(r"INSERT INTO \w+ \(", statement):
        statement = re.sub(r"^INSERT INTO (\w+) \(", r"INSERT INTO bough.\1 (namespace, ", statement)
        statement = re.sub(r"\) (VALUES \(|SELECT )", r") \1$1, ", statement, count=1)
        statement = statement.replace(" ON CONFLICT (", " ON CONFLICT (namespace, ")
    return _read(statement)


def lists_in(statement: str) -> tuple[int, ...]:
    """Which parameters, counted from 0, are lists."""
    return tuple(sorted({int(number) - 1 for number in re.findall(r"CAST\(\$(\d+) AS \w+\[\]\)", statement)}))


def numbered(statement: str) -> str:
    """Question marks, numbered or not, become `$2` and so on: `$1` is the namespace."""
    count = iter(range(2, 100))
    return re.sub(r"\?(\d*)", lambda mark: f"${int(mark[1]) + 1 if mark[1] else next(count)}", statement)


def _read(statement: str) -> str:
    """With each table that is read as what the namespace has of it."""
    statement = re.sub(r"(EXISTS \(SELECT 1 FROM [^()]+)\)", r"\1 OFFSET 0)", statement)
    while lookup := re.search(rf"(CROSS|LEFT) JOIN ({'|'.join(TABLES)}) (\w+) ON ", statement):
        kind, table, alias = lookup.groups()
        condition, rest = _condition(statement[lookup.end() :])
        row = f"SELECT * FROM bough.{table} {alias} WHERE {alias}.namespace = $1 AND {condition} OFFSET 0"
        joined = f"{'JOIN' if kind == 'CROSS' else 'LEFT JOIN'} LATERAL ({row}) {alias} ON true"
        statement = statement[: lookup.start()] + joined + rest
    return re.sub(
        rf"\b(FROM|JOIN) ({'|'.join(TABLES)})\b(?: (?!(?:{ENDS})\b)(\w+))?",
        lambda found: f"{found[1]} (SELECT * FROM bough.{found[2]} WHERE namespace = $1) {found[3] or found[2]}",
        statement,
    )


def _condition(text: str) -> tuple[str, str]:
    """The condition that a text begins with, and what follows it."""
    depth = 0
    for found in re.finditer(rf"[()]| (?:{ENDS})\b", text):
        if depth == 0 and found[0] != "(":
            return text[: found.start()], text[found.start() :]
        depth += {"(": 1, ")": -1}.get(found[0], 0)
    return text, ""


def _narrowed(rest: str, table: str) -> str:
    """What follows the table that is written to, with a condition that holds for this namespace only."""
    rest, returning, columns = rest.partition(" RETURNING ")
    place = _outermost(rest, " WHERE ")
    changes, condition = (rest, "true") if place < 0 else (rest[:place], rest[place + len(" WHERE ") :])
    return f"{_read(changes)} WHERE {table}.namespace = $1 AND ({_read(condition)}){returning}{columns}"


def _outermost(text: str, word: str) -> int:
    """Where the word stands outside of all parentheses; -1 if it does not."""
    place = text.find(word)
    while place >= 0 and text.count("(", 0, place) > text.count(")", 0, place):
        place = text.find(word, place + 1)
    return place
