"""openapi.json, made of the operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bough
from bough.server.api import messages
from bough.server.api.operations import FIELDS, PREFIX, Field, Operation
from bough.server.api.schemas import components, schema_of

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "retryable", "request_id"],
    "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"}, "code": {"type": "string"}, "param": {"type": "string"},
        "retryable": {"type": "boolean"}, "request_id": {"type": "string"},
    },
}  # fmt: skip
KEY = {"name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "maxLength": 255},
       "description": "A repeated request with the same key gets the answer of the first one."}  # fmt: skip


def document(operations: Sequence[Operation], address: str) -> dict[str, Any]:
    """The whole description, in OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = described(one)
    schemas = components([*messages.VALUES, *(one.gives for one in operations if one.gives is not None)])
    return {
        "openapi": "3.1.0",
        "info": {"title": "bough", "version": bough.__version__},
        "servers": [{"url": f"{address}{PREFIX}" if address.startswith("http") else PREFIX}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {**schemas, "Problem": PROBLEM},
        },
    }


def described(one: Operation) -> dict[str, Any]:
    """One operation."""
    made: dict[str, Any] = {
        "operationId": one.id, "summary": one.about, "x-scope": one.scope, "parameters": parameters(one),
        "responses": {str(one.status): succeeded(one), "default": {
            "description": "What went wrong, what was kept, and what to do.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }},
    }  # fmt: skip
    if one.takes_file:
        binary = {"schema": {"type": "string", "contentEncoding": "binary"}}
        made["requestBody"] = {"required": True, "content": {"application/octet-stream": binary}}
    elif one.body:
        required = [field.name for field in one.body if field.is_required]
        made["requestBody"] = {"required": bool(required), "content": {"application/json": {"schema": {
            "type": "object", "additionalProperties": False, "required": required,
            "properties": {field.name: {**field.schema, "description": field.about} for field in one.body},
        }}}}  # fmt: skip
    return made


def parameters(one: Operation) -> list[dict[str, Any]]:
    in_path = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in one.path_names]
    fields: tuple[Field, ...] = (*one.query, FIELDS) if one.selects else one.query
    in_query = [
        {"name": field.name, "in": "query", "required": field.is_required, "schema": field.schema,
         "description": field.about, **({"style": "form", "explode": False} if field.type == "list" else {})}
        for field in fields
    ]  # fmt: skip
    return [*in_path, *in_query, *([KEY] if one.method == "POST" else [])]


def succeeded(one: Operation) -> dict[str, Any]:
    if one.gives is None:
        return {"description": "Done."}
    return {"description": one.about, "content": {one.media_type: {"schema": schema_of(one.gives)}}}
