"""`/v1/models`: the names that a request may have."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bough.model import Json
from bough.server.context import context_of
from bough.server.json_text import JsonAnswer
from bough.server.openai.pages import listing
from bough.server.openai.refusals import not_found


def resource(name: str, spec: str) -> dict[str, Json]:
    """The model object. What a model was made at is not known."""
    return {"id": name, "object": "model", "created": 0, "owned_by": spec.partition(":")[0]}


async def list_models(request: Request) -> Response:
    """The aliases, the models of `--model`, and the default."""
    models = context_of(request).models
    return JsonAnswer(listing([resource(name, models.spec(name)) for name in models.names]))


async def retrieve(request: Request) -> Response:
    """One of the listed models."""
    models, name = context_of(request).models, request.path_params["name"]
    if name not in models.names:
        raise not_found("Model", name)
    return JsonAnswer(resource(name, models.spec(name)))


routes = [
    Route("/v1/models", list_models, methods=["GET"]),
    Route("/v1/models/{name:path}", retrieve, methods=["GET"]),
]
