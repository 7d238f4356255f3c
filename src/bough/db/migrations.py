"""The version of the schema, and the migrations that lead to it."""

from __future__ import annotations

import os
import re

from bough.db import HERE, StrPath, read_text

SCHEMA = os.path.join(HERE, "schema")
VERSION = 10


def steps(engine: str, directory: StrPath | None = None) -> list[tuple[int, str]]:
    """The migrations of an engine in order: target version and SQL."""
    found = []
    directory = directory or os.path.join(SCHEMA, "migrations")
    for name in os.listdir(directory):
        if match := re.fullmatch(rf"(\d+).*\.{engine}\.sql", name):
            found.append((int(match[1]), read_text(os.fspath(directory), name)))
    return sorted(found)
