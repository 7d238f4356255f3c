"""JSON Schemas of the values that the API sends, made of their annotations."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from bough.model import Json
from bough.model.values import value

SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    type(None): {"type": "null"}, bytes: {"type": "string", "contentEncoding": "base64"},
}  # fmt: skip


@value
class PageOf:
    """The schema of a page of a list."""

    item: Any
    more: Any = None
    """Further members, by their names."""


def page_of(item: Any, **more: Any) -> PageOf:
    """A page of items, with further members."""
    return PageOf(item, more)


def schema_of(type_: Any) -> dict[str, Json]:
    """The schema of a result: of a type, of a page, or a schema itself. Values are references to `components`."""
    if isinstance(type_, dict):
        return type_
    if isinstance(type_, PageOf):
        return page_schema(type_)
    if type_ in SIMPLE:
        return dict(SIMPLE[type_])
    origin, inner = get_origin(type_), get_args(type_)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in inner]}
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if hasattr(type_, "__match_args__"):
        return {"$ref": f"#/components/schemas/{type_.__name__}"}
    return {}


def page_schema(page: PageOf) -> dict[str, Json]:
    more: dict[str, Any] = {name: schema_of(item) for name, item in (page.more or {}).items()}
    members: dict[str, Any] = {
        "data": {"type": "array", "items": schema_of(page.item)},
        "next": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "has_more": {"type": "boolean"},
        **more,
    }
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def components(types_: Sequence[Any]) -> dict[str, Json]:
    """The schemas of values, and of those in their fields, by name."""
    found: dict[str, Json] = {}
    waiting = list(types_)
    while waiting:
        one = waiting.pop()
        if isinstance(one, PageOf):
            waiting += [one.item, *(one.more or {}).values()]
        elif not isinstance(one, dict) and hasattr(one, "__match_args__"):
            if one.__name__ not in found:
                hints = hints_of(one)
                found[one.__name__] = object_schema(hints)
                waiting += hints.values()
        else:
            waiting += get_args(one) if get_origin(one) is not Literal else ()
    return dict(sorted(found.items()))


@cache
def hints_of(cls: type[Any]) -> dict[str, Any]:
    """The types of a value's fields."""
    hints = get_type_hints(cls, localns={"Json": Any})
    return {name: hints[name] for name in cls.__match_args__}


def object_schema(hints: Mapping[str, Any]) -> dict[str, Json]:
    members: dict[str, Any] = {name: schema_of(type_) for name, type_ in hints.items()}
    return {"type": "object", "properties": members, "required": list(members)}
