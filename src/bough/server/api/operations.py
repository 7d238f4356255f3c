"""Operations of the API: what each one takes and gives. The routes and openapi.json are made of them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bough.model import Json
from bough.model.values import value

if TYPE_CHECKING:
    from starlette.requests import Request

    from bough.server.access.scopes import Access
    from bough.server.context import ServerContext
    from bough.server.stores import ServedStore

FieldType: TypeAlias = Literal["string", "integer", "number", "boolean", "time", "list", "object", "any"]
"""A `time` is microseconds since 1970 or ISO 8601; a `list` is one of texts, in a query with commas between them."""
PREFIX = "/api/v1"


@value
class Field:
    """A parameter of a query, or a member of a body."""

    name: str
    type: FieldType
    about: str
    is_required: bool = False
    choices: tuple[str, ...] = ()
    default: Json = None
    least: int | None = None
    most: int | None = None
    is_nullable: bool = False

    @property
    def schema(self) -> dict[str, Json]:
        """Its JSON Schema."""
        made: dict[str, Any] = dict(SCHEMAS[self.type])
        limits = {"minimum": self.least, "maximum": self.most, "default": self.default}
        made |= {name: limit for name, limit in limits.items() if limit is not None}
        if self.choices:
            made |= {"items": {"enum": list(self.choices)}} if self.type == "list" else {"enum": list(self.choices)}
        return {"anyOf": [made, {"type": "null"}]} if self.is_nullable else made


SCHEMAS: dict[FieldType, dict[str, Json]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "time": {"anyOf": [{"type": "integer"}, {"type": "string", "format": "date-time"}]},
    "list": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
    "any": {},
}


class ApiCall:
    """One call of an operation: who calls, on which store, with what."""

    def __init__(self, request: Request, operation: Operation, given: Mapping[str, Any]) -> None:
        self.request = request
        self.operation = operation
        self.given = given
        """The parameters and members that the client gave, by name; those of the path are always among them."""
        self.store: ServedStore = request.state.store
        self.access: Access = request.state.access
        self.context: ServerContext = request.app.state.context
        self.idempotency_key: str | None = None

    def __getitem__(self, name: str) -> Any:
        """What was given, else the default."""
        if name in self.given:
            return self.given[name]
        return next(field.default for field in (*self.operation.query, *self.operation.body) if field.name == name)

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def some(self, *names: str) -> dict[str, Any]:
        """Those of these that were given, as keyword arguments."""
        return {name: self.given[name] for name in names if name in self.given}


Run: TypeAlias = Callable[[ApiCall], Awaitable[Any]]


@value
class Operation:
    """One method of one path."""

    method: str
    path: str
    """Below `/api/v1`; `{name}` is a parameter."""
    id: str
    """Its name in clients that are generated from openapi.json."""
    about: str
    run: Run
    """Gives a value, which is sent as JSON, or a response."""
    gives: Any = None
    """The type of the result, or its JSON Schema; None for no content."""
    query: tuple[Field, ...] = ()
    body: tuple[Field, ...] = ()
    scope: str = "read"
    status: int = 200
    media_type: str = "application/json"
    takes_file: bool = False
    """Whether the body is a file, and not JSON."""
    remembers: bool = False
    """Whether it handles `Idempotency-Key` itself, so that a repetition is recognised after a restart as well."""

    @property
    def path_names(self) -> list[str]:
        """The names of the parameters in the path."""
        return re.findall(r"{(\w+)}", self.path)

    @property
    def selects(self) -> bool:
        """Whether the client can choose the fields of the result."""
        return self.method == "GET" and self.media_type == "application/json" and self.gives is not None


FIELDS = Field("fields", "list", "The members of the result, or of each item of a list, to send; all without it.")
