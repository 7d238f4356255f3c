"""The schema of a structured answer: a file with JSON Schema, or a short notation, as `name, age int, tags [str]`."""

from __future__ import annotations

import json
import re
from pathlib import Path

from bough.errors import Invalid, NotFound
from bough.model import Json

TYPES: dict[str, dict[str, Json]] = {
    "str": {"type": "string"},
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "boolean": {"type": "boolean"},
}
_FIELD = re.compile(
    r"(?P<name>[\w-]+)(?:\s+(?P<list>\[)?(?P<type>\w+)(?(list)\]))?(?:\s*:\s*(?P<about>.+))?", re.DOTALL
)


def read_schema(given: str) -> dict[str, Json]:
    """The schema that `--schema` names. Raises `NotFound` and `Invalid`."""
    text = given.strip()
    if text.startswith("{"):
        return parse_json(text, "The schema")
    path = Path(given).expanduser()
    try:
        is_file = path.is_file()
    except OSError:  # a name that is too long is no file
        is_file = False
    if is_file:
        return parse_json(path.read_text("utf-8"), str(path))
    if path.suffix == ".json" or "/" in given:
        raise NotFound(f"There is no schema {given!r}; nothing was asked.")
    return parse_fields(text)


def parse_json(text: str, where: str) -> dict[str, Json]:
    """A JSON Schema. Raises `Invalid`."""
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]

    try:
        schema = json.loads(text)
    except ValueError as error:
        raise Invalid(f"{where} is not JSON: {error}. Nothing was asked.") from None
    if not isinstance(schema, dict):
        raise Invalid(f"{where} is not a JSON Schema, which is an object. Nothing was asked.")
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        raise Invalid(f"{where} is not a JSON Schema: {error.message}. Nothing was asked.") from None
    return schema


def parse_fields(text: str) -> dict[str, Json]:
    """The schema of `name, age int, tags [str], note: what to say`, separated by commas or lines. Raises `Invalid`."""
    separator = "\n" if "\n" in text else ","
    properties: dict[str, Json] = {}
    for field in filter(None, (part.strip() for part in text.split(separator))):
        found = _FIELD.fullmatch(field)
        kind = TYPES.get((found["type"] or "str").lower()) if found else None
        if found is None or kind is None:
            known = ", ".join(dict.fromkeys(name for name in TYPES if len(name) < 6))
            raise Invalid(
                f"{field!r} is no field; write NAME TYPE: DESCRIPTION, with one of {known}. Nothing was asked."
            )
        made: dict[str, Json] = {"type": "array", "items": kind} if found["list"] else dict(kind)
        properties[found["name"]] = made | ({"description": found["about"].strip()} if found["about"] else {})
    if not properties:
        raise Invalid("--schema needs a file with JSON Schema, or fields: 'name, age int'. Nothing was asked.")
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def check_answer(text: str, schema: dict[str, Json]) -> Json:
    """The answer as a value. Raises `Invalid` for one that is not JSON or does not fit the schema."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    try:
        answer = json.loads(text)
    except ValueError as error:
        raise Invalid(f"The answer is not JSON: {error}. It is stored as it came.") from None
    wrong = best_match(validator_for(schema)(schema).iter_errors(answer))
    if wrong is not None:
        at = f"{wrong.json_path}: " if wrong.absolute_path else ""
        raise Invalid(f"The answer does not fit the schema: {at}{wrong.message}. It is stored as it came.")
    return answer
