"""openapi.json describes the routes as they are; other tenants' tokens and ids open none of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import jsonschema  # type: ignore[import-untyped]
import pytest

import bough
from bough.server.access import tokens
from bough.server.api.openapi import document
from bough.server.api.routes import mount, operations
from tests.server.openai.conftest import scripted
from tests.server.serving import Serving, serving

DOCUMENT = document(operations(), "http://127.0.0.1:8011")
SECRET = "the quokka's secret"
Place = tuple[str, str]


def described() -> list[Place]:
    return [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]


def test_the_description_has_every_route_and_no_other(http: httpx2.Client) -> None:
    router = mount().app._app  # type: ignore[attr-defined]
    routed = {(method, route.path) for route in router.routes for method in route.methods - {"HEAD"}}
    assert set(described()) == routed
    assert http.get("/api/v1/openapi.json").json()["paths"] == json.loads(json.dumps(DOCUMENT["paths"]))


def test_the_description_is_valid_and_its_names_are_unique() -> None:
    ids = [one.id for one in operations()]
    assert len(set(ids)) == len(ids)
    for methods in DOCUMENT["paths"].values():
        for one in methods.values():
            for answer in one["responses"].values():
                for content in answer.get("content", {}).values():
                    check(content["schema"])
            for parameter in one["parameters"]:
                check(parameter["schema"])


def check(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in references(schema):
        assert name.removeprefix("#/components/schemas/") in DOCUMENT["components"]["schemas"]


def references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from [schema["$ref"]] if "$ref" in schema else []
        for item in schema.values():
            yield from references(item)
    elif isinstance(schema, list):
        for item in schema:
            yield from references(item)


def filled(store: bough.Store) -> dict[str, str]:
    """The values of the parameters of paths, in a store with something of everything."""
    session = store.session("cli:mine", title=SECRET)
    ids = session.save_turn([bough.user(SECRET), bough.assistant(f"yes, {SECRET}")])
    store.label(ids[0], SECRET)
    store.pin(ids[0])
    gone = store.session("cli:gone")
    gone.save_turn([bough.user(SECRET), bough.assistant("gone")])
    store.delete_session("cli:gone")
    return {"key": quote("cli:mine", safe=""), "id": ids[0], "position": "0", "trash": store.trash()[0].id}


def path_of(template: str, values: dict[str, str]) -> str:
    values = {**values, "id": values["trash"]} if template.startswith("/trash/") else values
    return f"/api/v1{template.format(**values)}"


OTHERS = {"/events", "/turns/{id}/events", "/jobs/{id}", "/messages/{id}/blocks/{position}"}
READS = [path for method, path in described() if method == "GET" and path not in OTHERS]


@pytest.mark.parametrize("path", READS)
def test_what_is_read_is_what_is_described(http: httpx2.Client, store: bough.Store, path: str) -> None:
    values = filled(store) if store.find_session("cli:mine") is None else values_of(store)
    query = {"a": values["id"], "b": values["id"]} if path == "/compare" else {}
    answer = http.get(path_of(path, values), params=query)
    assert answer.status_code == 200, answer.text
    schema = DOCUMENT["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), {**schema, "components": DOCUMENT["components"]})
    assert answer.headers["bough-version"] == bough.__version__
    again = http.get(path_of(path, values), params=query, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def values_of(store: bough.Store) -> dict[str, str]:
    first = store.session("cli:mine").path()[0].id
    return {"key": quote("cli:mine", safe=""), "id": first, "position": "0", "trash": store.trash()[0].id}


@pytest.fixture(scope="module")
def tenants(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Serving, dict[str, str], str, str]]:
    """A server with two tenants: values of the first, and a token of each."""
    directory: Path = tmp_path_factory.mktemp("tenants")
    url, names = request.getfixturevalue("postgres"), [f"{uuid4()}" for _ in range(3)]
    with serving(directory, db=f"{url}?namespace={names[0]}", config=scripted(directory)) as server:
        with bough.connect(f"{url}?namespace={names[0]}") as home:
            given = [tokens.create(home, name, ["read", "write", "run"], tenant=name)[1] for name in names[1:]]
        with bough.connect(f"{url}?namespace={names[1]}") as mine:
            values = filled(mine)
        yield server, values, given[0], given[1]


def body_of(method: str, path: str, values: dict[str, str]) -> Any:
    """A body that is right as such, with the ids of another tenant where it takes some."""
    bodies: dict[str, Any] = {
        "/turns": {"at": values["id"], "input": "hi"}, "/messages/{id}/label": {"text": "mine now"},
        "/messages/{id}/pin": {"pinned": True}, "/sessions/{key}": {"title": "mine now"},
        "/sessions": {"key": f"new:{uuid4()}"}, "/undo": {"session": "cli:mine"},
    }  # fmt: skip
    return bodies.get(path, {})


@pytest.mark.parametrize(("method", "path"), described())
def test_no_route_gives_or_changes_what_another_tenant_has(
    tenants: tuple[Serving, dict[str, str], str, str], method: str, path: str
) -> None:
    server, values, owner, stranger = tenants
    before = state(server, owner)
    with server.client(stranger) as client:
        query = {"a": values["id"], "b": values["id"]} if path == "/compare" else {}
        given: dict[str, Any] = {} if method in ("GET", "DELETE") else {"json": body_of(method, path, values)}
        with client.stream(method, path_of(path, values), params=query, **given) as answer:
            if path == "/events":
                text = next(line for line in answer.iter_lines() if line.startswith("data"))
            else:
                text = answer.read().decode("utf-8", "replace")
    assert SECRET not in text
    if "{" in path or ((method, path) in NAMING):
        assert answer.status_code == 404, (answer.status_code, text)
    elif path != "/imports":  # the body is no file
        assert answer.status_code < 300, text
    assert state(server, owner) == before


NAMING = {("POST", "/turns"), ("GET", "/compare"), ("POST", "/undo")}
"""Operations that name something of a store elsewhere than in their path."""


def state(server: Serving, owner: str) -> int:
    """The number of the owner's last change."""
    with server.client(owner) as client:
        return int(client.get("/api/v1/status", params={"fields": "cursor"}).json()["cursor"])


@pytest.mark.parametrize(("method", "path"), described())
def test_no_route_answers_without_a_token_or_with_too_little_of_one(
    tenants: tuple[Serving, dict[str, str], str, str], method: str, path: str
) -> None:
    server, values, _, _ = tenants
    with server.client(None) as client:
        assert client.request(method, path_of(path, values)).status_code == 401
    with bough.connect(str(server.db)) as home:
        scope = DOCUMENT["paths"][path][method.lower()]["x-scope"]
        others = ["admin"] if scope == "read" else ["read"]
        _, token = tokens.create(home, "little", others)
    with server.client(token) as client:
        answer = client.request(method, path_of(path, values))
        assert (answer.status_code, answer.json()["code"]) == (403, "scope-missing")
