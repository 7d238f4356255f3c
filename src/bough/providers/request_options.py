"""Fields of a request that mean the same for every API and are named differently."""

from __future__ import annotations

from collections.abc import Mapping

from bough.errors import ProviderError
from bough.model import Json


def effort(format: str, level: Json) -> dict[str, Json]:
    """How much a model reasons: `low`, `medium`, `high`. Raises `ProviderError` for a format without it."""
    match format:
        case "openai.responses":
            return {"reasoning": {"effort": level}}
        case "anthropic":
            return {"output_config": {"effort": level}}
        case "ollama":
            return {"think": level}
        case "cohere" | "gemini.interactions":
            raise ProviderError(f"An effort is not known for the format {format!r}; use options.", kind="refused")
    return {"reasoning_effort": level}


def structured_output(format: str, schema: dict[str, Json]) -> dict[str, Json]:
    """The answer as JSON of a schema. Raises `ProviderError` for a format without it."""
    named = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
    match format:
        case "openai.chat":
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "openai.responses":
            return {"text": {"format": {"type": "json_schema", **named}}}
        case "anthropic":
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        case "ollama":
            return {"format": schema}
        case "cohere":
            return {"response_format": {"type": "json_object", "schema": schema}}
        case "gemini.interactions":
            return {"response_format": {"type": "text", "mime_type": "application/json", "schema": schema}}
        case "bough.jsonl":  # of a script, which answers what it contains
            return {}
    raise ProviderError(f"Answers of a schema are not known for the format {format!r}.", kind="refused")


def is_strict(schema: Json) -> bool:
    """Whether OpenAI's strict mode accepts a schema: every object names all its properties as required, and no more."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required") or ()) != set(properties or ()):
            return False
    return all(map(is_strict, schema.values()))


def merged(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    """Both, with the fields of the second over those of the first, also inside objects."""
    result = dict(first)
    for name, given in second.items():
        before = result.get(name)
        result[name] = merged(before, given) if isinstance(before, dict) and isinstance(given, dict) else given
    return result


def nested(name: str, given: Json) -> dict[str, Json]:
    """A field by its dotted name: `reasoning.effort`."""
    first, dot, rest = name.partition(".")
    return {first: nested(rest, given) if dot else given}
