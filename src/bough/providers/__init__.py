"""Model providers: OpenAI's and Anthropic's APIs and compatible ones, the embedded model, and scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from bough.errors import FormatError, ProviderError
from bough.locations import is_loopback

if TYPE_CHECKING:
    from bough.formats.servers import ServerDialect
    from bough.providers.api import Api
    from bough.providers.catalog import Service
    from bough.providers.connection import HttpConnection
    from bough.providers.types import Provider

Settings: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The tables `[providers.NAME]` of the configuration, by name."""

NONE: Settings = {}
_SPEC = re.compile(r"([\w.-]+)(?:[:/](.*))?", re.S)
_FAMILIES = {
    "claude-": "anthropic",
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
}
"""Prefixes of model names, and the providers of these models."""


TYPES = ("openai", "openai.responses", "anthropic", "gemini.interactions", "cohere", "ollama")
"""The APIs that a provider of the configuration may have."""


def find(spec: str, settings: Settings = NONE, environ: Mapping[str, str] = os.environ) -> Provider:
    """The provider for `openai:MODEL`, `anthropic:MODEL`, `local`, `local:PATH`, `scripted:FILE` or `NAME:MODEL`.

    Loads no model and opens no connection. Raises `ProviderError` if the name is unknown, no model is named, or the
    key, the model file or a package is missing.
    """
    from bough.providers.catalog import service

    name, model = _split(spec, settings)
    table = settings.get(name, {})
    if name == "scripted":
        from bough.providers.scripted import ScriptedProvider

        return ScriptedProvider(model)
    if name == "local":
        from bough.providers.local import LocalProvider

        return LocalProvider(model, table)
    if known := service(name, table, environ):
        return _over_http(name, model or known.model, known, table, environ)
    return _plugin(spec, name, model, table)


def default(environ: Mapping[str, str] = os.environ, settings: Settings = NONE) -> str:
    """The default spec: the first provider that is configured or has a key, set or stored; or `local`."""
    from bough.config.key_store import stored_keys
    from bough.providers.catalog import SERVICES, service

    stored = stored_keys()
    for name in (*settings, *SERVICES):
        table = settings.get(name, {})
        known = service(name, table, environ)
        keyed = known and (table.get("api_key") or environ.get(known.key_env or "") or name in stored)
        if known and known.model and (keyed or (name in settings and not known.key_env)):
            return f"{name}:{known.model}"
    return "local"


def _split(spec: str, settings: Settings) -> tuple[str, str]:
    """Split a spec into provider and model. `PROVIDER/MODEL` and a known model name alone are accepted too."""
    from bough.providers.catalog import SERVICES

    found = _SPEC.fullmatch(spec.strip())
    name, model = (found[1], found[2] or "") if found else (spec, "")
    if not model and name not in (*settings, *SERVICES, "local", "scripted"):
        family = next((family for start, family in _FAMILIES.items() if name.startswith(start)), None)
        return (family, name) if family else (name, model)
    return name, model


def _over_http(
    name: str, model: str | None, known: Service, table: Mapping[str, Any], environ: Mapping[str, str]
) -> Provider:
    if not model:
        raise ProviderError(f"Which model of {name}? Say it as {name}:MODEL.", kind="not_found")
    from bough.providers.http_provider import HttpProvider

    api, connection = _connection(name, known, table, environ, None)
    made = HttpProvider(name, model, api, connection, dict(table.get("options", {})), table.get("window"))
    if api.format == "openai.chat" and (server := dialect_of(name, known, table)):
        made.dialect = server.name
    return made


def connect_to(name: str, settings: Settings, environ: Mapping[str, str], timeout: float) -> HttpConnection:
    """A connection to a provider, without a model. Raises `ProviderError`, also for one that has no HTTP API."""
    from bough.providers.catalog import service

    table = settings.get(name, {})
    known = service(name, table, environ)
    if known is None:
        raise ProviderError(f"No provider with an HTTP API is called {name!r}.", kind="not_found")
    return _connection(name, known, table, environ, timeout)[1]


def _connection(
    name: str, known: Service, table: Mapping[str, Any], environ: Mapping[str, str], timeout: float | None
) -> tuple[Api, HttpConnection]:
    key = _key(name, known, table, environ)
    try:
        import httpx2  # noqa: F401
    except ImportError:
        raise ProviderError(f"Asking {name} needs more: pip install 'bough[run]'", kind="not_found") from None
    from bough.providers.connection import READ_TIMEOUT, HttpConnection

    api = _api(name, known, table)
    headers = {**api.headers(key), **table.get("headers", {})}
    return api, HttpConnection(name, known.base_url, headers, timeout or table.get("timeout") or READ_TIMEOUT)


def _api(name: str, known: Service, table: Mapping[str, Any]) -> Api:
    from bough.providers import anthropic, cohere, interactions, ollama, openai
    from bough.providers.catalog import ANTHROPIC

    match known.type:
        case "openai":
            return openai.ChatApi(dialect_of(name, known, table))
        case "openai.responses":
            return openai.ResponsesApi()
        case "anthropic":
            return anthropic.MessagesApi(caches=known.base_url == ANTHROPIC)
        case "ollama":
            return ollama.OllamaApi()
        case "cohere":
            return cohere.CohereApi()
        case "gemini.interactions":
            return interactions.InteractionsApi()
    raise ProviderError(f"{name} has the type {known.type!r}; there are {', '.join(TYPES)}.")


def dialect_of(name: str, known: Service, table: Mapping[str, Any]) -> ServerDialect | None:
    """The dialect of a service: as configured, by its address, or by its name if that is of servers that run anywhere.

    Raises `ProviderError` for a configured dialect that does not exist.
    """
    from bough.formats.servers import SERVERS, server, server_at

    if configured := table.get("dialect"):
        try:
            return server(str(configured))
        except FormatError as error:
            raise ProviderError(f"[providers.{name}] dialect: {error}", kind="not_found") from None
    named = SERVERS.get(name) if is_loopback(known.base_url) else None
    return server_at(known.base_url) or named


def _key(name: str, known: Service, table: Mapping[str, Any], environ: Mapping[str, str]) -> str | None:
    """The API key, or None if the service needs none. Raises `ProviderError`.

    A key that is not printable ASCII is refused here, because the HTTP library's error would show it.
    """
    key = str(table.get("api_key") or environ.get(known.key_env or "", "") or _stored_key(name) or "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise ProviderError(f"The key of {name} has characters that no key has; copy it again.", kind="key")
    if not key and known.key_env:
        raise ProviderError(f"There is no key for {name}; set {known.key_env}, or: bough keys set {name}", kind="key")
    return key or None


def _stored_key(name: str) -> str | None:
    from bough.config.key_store import find_key

    return find_key(name)


def _plugin(spec: str, name: str, model: str, table: Mapping[str, Any]) -> Provider:
    """A provider from an installed package: an entry point of the group `bough.providers`.

    It is called with the model's name and the table of the configuration.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group="bough.providers", name=name):
        try:
            made: Provider = point.load()(model, dict(table))
        except ProviderError:
            raise
        except Exception as error:
            raise ProviderError(f"{point.value}, which should answer to {spec!r}, failed: {error}") from error
        return made
    raise ProviderError(
        f"Nobody is known as {name!r}. Say PROVIDER:MODEL, as openai:gpt-5.4-mini, `local`, or configure "
        f"[providers.{name}] with its base_url.",
        kind="not_found",
    )
