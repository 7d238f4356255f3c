"""The names of the schema and of its tables.

Everything is written for a schema called `bough`; `in_schema` makes it one for a schema of another name.
"""

from __future__ import annotations

import re
from functools import lru_cache

from bough.db import read_text, sections
from bough.errors import Invalid

SCHEMA = "bough"
TABLES = re.findall(r"CREATE TABLE bough\.(\w+)", read_text("schema", "postgres.sql"))


def in_schema(text: str, schema: str) -> str:
    """SQL of ours, with another schema. The setting `bough.namespace` keeps its name."""
    if schema == SCHEMA:
        return text
    text = re.sub(r"\bbough\.(?!namespace\b)", f'"{schema}".', text)
    text = text.replace("'bough'::regnamespace", f"""'"{schema}"'::regnamespace""").replace("'bough'", f"'{schema}'")
    return re.sub(r"\bSCHEMA bough\b", f'SCHEMA "{schema}"', text)


def check_schema(name: str) -> str:
    """The name of a schema, which needs no quotes. Raises `Invalid`."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", name) or name.startswith("pg_"):
        raise Invalid(f"A schema is named with small letters, digits and _, and not pg_…; {name!r:.70} is not.")
    return name


@lru_cache
def statements(schema: str) -> dict[str, str]:
    """The statements by name, for a schema."""
    return sections(in_schema(read_text("postgres", "statements.sql"), schema), "name")
