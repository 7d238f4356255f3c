"""Reads the parameters and the body of a call, as its operation describes them; an unknown name is an error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from bough.model.times import micros
from bough.server.api.operations import FIELDS, Field
from bough.server.problems import HttpProblem

if TYPE_CHECKING:
    from starlette.requests import Request

    from bough.server.api.operations import Operation

BOOLEANS = {"1": True, "true": True, "0": False, "false": False}
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "list": (list,), "object": (dict,),
}  # fmt: skip


async def arguments(request: Request, operation: Operation) -> dict[str, Any]:
    """What a request gives, checked. Raises `HttpProblem`."""
    given: dict[str, Any] = {name: unquote(request.path_params[name]) for name in operation.path_names}
    fields = (*operation.query, FIELDS) if operation.selects else operation.query
    given |= from_query(request, fields)
    if not operation.takes_file:
        given |= await from_body(request, operation.body)
    return given


def from_query(request: Request, fields: Sequence[Field]) -> dict[str, Any]:
    """The parameters of the query."""
    known, found = {field.name: field for field in fields}, {}
    for name, text in request.query_params.multi_items():
        if name not in known:
            raise wrong(name, f"There is no parameter {name!r:.60} here. {listed(known)}")
        if name in found:
            raise wrong(name, f"{name} was given twice.")
        found[name] = checked(known[name], of_text(known[name], text))
    return complete(fields, found)


async def from_body(request: Request, fields: Sequence[Field]) -> dict[str, Any]:
    """The members of the body."""
    raw = await request.body()
    if not raw and not any(field.is_required for field in fields):
        return {}
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise wrong("body", f"The body is not JSON: {error}; nothing was done.") from None
    if not isinstance(body, dict):
        raise wrong("body", "The body is a JSON object; nothing was done.")
    known = {field.name: field for field in fields}
    if unknown := [name for name in body if name not in known]:
        raise wrong(unknown[0], f"There is no member {unknown[0]!r:.60} here; nothing was done. {listed(known)}")
    return complete(fields, {name: checked(known[name], item) for name, item in body.items()})


def complete(fields: Sequence[Field], found: dict[str, Any]) -> dict[str, Any]:
    for field in fields:
        if field.is_required and field.name not in found:
            raise wrong(field.name, f"{field.name} is missing: {field.about}")
    return found


def of_text(field: Field, text: str) -> Any:
    """The value of a parameter of a query."""
    try:
        match field.type:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return BOOLEANS[text.lower()]
            case "time":
                return int(text) if text.lstrip("-").isdecimal() else text
            case "list":
                return [item for item in text.split(",") if item]
    except (ValueError, KeyError):
        raise wrong(field.name, f"{field.name} is {a(field)}, not {text!r:.60}.") from None
    return text


def checked(field: Field, item: Any) -> Any:
    """A value of the right type and size. Raises `HttpProblem`, and `Invalid` for what is no time."""
    if item is None and field.is_nullable:
        return None
    if field.type == "time":
        if isinstance(item, bool) or not isinstance(item, (int, str)):
            raise wrong(field.name, f"{field.name} is {a(field)}, not {item!r:.60}.")
        return micros(item if isinstance(item, int) else moment(field, item), field.name)
    wanted = TYPES.get(field.type)
    if wanted is not None and (not isinstance(item, wanted) or (isinstance(item, bool) and bool not in wanted)):
        raise wrong(field.name, f"{field.name} is {a(field)}, not {item!r:.60}.")
    for one in item if field.type == "list" else (item,):
        if field.type == "list" and not isinstance(one, str):
            raise wrong(field.name, f"{field.name} is a list of texts; {one!r:.60} is none.")
        if field.choices and one not in field.choices:
            raise wrong(field.name, f"{field.name} is one of {', '.join(field.choices)}, not {one!r:.60}.")
    if (field.least is not None and item < field.least) or (field.most is not None and item > field.most):
        raise wrong(field.name, f"{field.name} is {between(field)}, not {item}.")
    return item


def moment(field: Field, text: str) -> Any:
    """The datetime of a text in ISO 8601; UTC where it names no zone."""
    from datetime import UTC, datetime

    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        raise wrong(field.name, f"{field.name} is {a(field)}, not {text!r:.60}.") from None
    return made if made.tzinfo else made.replace(tzinfo=UTC)


def a(field: Field) -> str:
    """The type of a field, for an error."""
    names = {"integer": "an integer", "number": "a number", "boolean": "true or false", "list": "a list of texts",
             "time": "a time (microseconds since 1970, or ISO 8601)", "object": "an object"}  # fmt: skip
    return names.get(field.type, "a text")


def between(field: Field) -> str:
    if field.least is None or field.most is None:
        return f"at least {field.least}" if field.most is None else f"at most {field.most}"
    return f"between {field.least} and {field.most}"


def listed(known: dict[str, Field]) -> str:
    return f"There are: {', '.join(sorted(known))}." if known else "There are none."


def wrong(name: str, detail: str) -> HttpProblem:
    """A problem (400) with a parameter or a member."""
    return HttpProblem(400, "invalid-parameter", detail, name)
