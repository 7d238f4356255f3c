"""Convert a Python function to a tool, with a JSON Schema from its signature."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from bough.agent.tools import Bound, Call, Result, valid_name
from bough.errors import Invalid, ToolError
from bough.model import Json, Tool

SIMPLE: Mapping[Any, dict[str, Json]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    type(None): {"type": "null"},
    None: {"type": "null"},
}


def tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: Json = None,
    seconds: float | None = None,
) -> Bound:
    """Make a tool from a function. Its return value is the result; an exception becomes an error result.

    The schema comes from the annotations, or is given as `parameters`. A parameter annotated with `Call` is not part of
    the schema; it gets the call's session and its `stop`. Raises `Invalid` for a signature that JSON Schema cannot
    express.
    """
    signature, hints = inspect.signature(function), get_type_hints(function)
    calls = [one for one in signature.parameters if hints.get(one) is Call]
    schema = parameters or schema_of(signature, hints)

    def run(arguments: dict[str, Json], call: Call) -> Result:
        given = {**arguments, **dict.fromkeys(calls, call)}
        try:
            bound = signature.bind(**given)
        except TypeError as problem:
            raise ToolError(f"The arguments do not fit: {problem}. Nothing was done; call again.") from None
        return Result.of(function(*bound.args, **bound.kwargs))

    about = inspect.getdoc(function) if description is None else description
    return Bound(Tool(valid_name(name or function.__name__), about or "", schema), run, seconds)


def schema_of(signature: inspect.Signature, hints: Mapping[str, Any]) -> dict[str, Json]:
    """The JSON Schema of a function's arguments."""
    properties: dict[str, Json] = {}
    required = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise Invalid(f"A tool takes its arguments by name; {name!r} cannot be given so.")
        if hints.get(name) is Call:
            continue
        properties[name] = schema_of_type(hints.get(name, Any), name)
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is None or isinstance(parameter.default, (str, int, float)):
            properties[name] |= {"default": parameter.default}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def schema_of_type(hint: Any, name: str) -> dict[str, Json]:
    """The JSON Schema of one annotation."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in SIMPLE:
        return dict(SIMPLE[hint])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of_type(one, name) for one in inner]}
    if origin in (list, tuple) and inner:
        return {"type": "array", "items": schema_of_type(inner[0], name)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of_type(inner[1], name)}
    raise Invalid(
        f"The type of {name!r}, {hint!r}, cannot be expressed in JSON Schema; give the schema as `parameters`."
    )
