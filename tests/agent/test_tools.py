"""Functions as tools, and the names that tools may have."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from bough.agent import Bound, Call, Result, tool
from bough.agent.tools import NAME, free_name, valid_name
from bough.errors import Invalid
from bough.model import Tool


def plant(
    name: str, rows: int, spacing: float = 1.5, kind: Literal["oak", "elm"] = "oak", notes: list[str] | None = None,
    extra: Any = None,
) -> str:  # fmt: skip
    """Plants trees.

    In rows.
    """
    return name


def test_a_function_becomes_a_tool_with_a_schema() -> None:
    made = tool(plant).tool
    assert (made.name, made.description) == ("plant", "Plants trees.\n\nIn rows.")
    properties = made.parameters["properties"]
    assert made.parameters["required"] == ["name", "rows"]
    assert properties["rows"] == {"type": "integer"}
    assert properties["spacing"] == {"type": "number", "default": 1.5}
    assert properties["kind"] == {"enum": ["oak", "elm"], "default": "oak"}
    assert properties["notes"]["anyOf"] == [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    assert properties["extra"] == {"default": None}


def test_the_call_parameter_is_not_in_the_schema() -> None:
    def whose(call: Call) -> str:
        return call.call_id

    assert tool(whose).tool.parameters["properties"] == {}


def positional(*trees: str) -> str:
    return ""


def strange(tree: complex) -> str:
    return ""


@pytest.mark.parametrize("function", [positional, strange])
def test_a_signature_without_a_json_schema_is_refused(function: Any) -> None:
    with pytest.raises(Invalid):
        tool(function)


@pytest.mark.parametrize("text", ["read file", "9lives", "a.b/c", "ü", "", "x" * 100, "-"])
def test_an_invalid_tool_name_is_made_valid(text: str) -> None:
    assert NAME.fullmatch(valid_name(text))


def test_long_names_stay_distinct() -> None:
    assert valid_name("x" * 100) != valid_name("x" * 101)
    long = "x" * 64
    assert NAME.fullmatch(free_name(long, {long}))


def test_a_bound_tool_with_a_bad_name_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be called"):
        Bound(Tool("two words", "", {}), lambda *_: Result())
