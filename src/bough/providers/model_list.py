"""The models that a provider offers, as its API lists them, kept in the user's cache for a day."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from time import time
from typing import Any

from bough.errors import ProviderError
from bough.locations import cache_directory
from bough.model import Json
from bough.model.values import value
from bough.providers import NONE, Settings

FRESH = 86_400.0
"""Seconds for which a list is kept."""
TIMEOUT = 20.0


@value
class ModelEntry:
    """One model of a provider."""

    provider: str
    name: str
    window: int | None = None
    """Context window in tokens; None if unknown."""
    input_price: float | None = None
    """US dollars for a million tokens; None if unknown."""
    output_price: float | None = None

    @property
    def spec(self) -> str:
        """The name for `-m`."""
        return self.provider if self.provider == self.name else f"{self.provider}:{self.name}"


def configured(settings: Settings = NONE, environ: Mapping[str, str] = os.environ) -> list[str]:
    """The providers that can be asked: those of the configuration, and those with a key."""
    from bough.config.key_store import stored_keys
    from bough.providers.catalog import SERVICES

    stored = stored_keys()
    keyed = [name for name, one in SERVICES.items() if name in stored or (one.key_env and environ.get(one.key_env))]
    return list(dict.fromkeys([*settings, *keyed]))


def models(
    provider: str, settings: Settings = NONE, environ: Mapping[str, str] = os.environ, *, refresh: bool = False
) -> list[ModelEntry]:
    """The models of a provider, from the cache or from its API. Raises `ProviderError`."""
    if not refresh and (kept := _cached().get(provider)) and kept.get("at", 0) > time() - FRESH:
        return [ModelEntry(provider, *row) for row in kept["models"]]
    found = sorted((_entry(provider, one) for one in _ask(provider, settings, environ)), key=lambda one: one.name)
    rows = [[one.name, one.window, one.input_price, one.output_price] for one in found]
    _keep({**_cached(), provider: {"at": time(), "models": rows}})
    return found


def cached_specs() -> list[str]:
    """The names for `-m` of all models in the cache, however old: for shell completion, which asks nobody."""
    return [ModelEntry(name, *row).spec for name, kept in _cached().items() for row in kept["models"]]


def _ask(provider: str, settings: Settings, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    from bough.providers import connect_to

    connection = connect_to(provider, settings, environ, TIMEOUT)
    try:
        body = connection.get("models", {"limit": "1000"} if provider == "anthropic" else {})
    finally:
        connection.close()
    listed = body.get("data") if isinstance(body, dict) else body
    if not isinstance(listed, list):
        raise ProviderError(f"{provider} does not list its models in a form that is understood.")
    return [one for one in listed if isinstance(one, dict) and isinstance(one.get("id"), str)]


def _entry(provider: str, given: dict[str, Json]) -> ModelEntry:
    from bough.prices import listed_model

    name = str(given["id"]).removeprefix("models/")
    window, paid, written = listed_model(name, provider)
    own = next((given[key] for key in ("context_length", "context_window", "max_model_len") if given.get(key)), None)
    pricing = given.get("pricing")
    if isinstance(pricing, dict):
        paid, written = _per_million(pricing.get("prompt"), paid), _per_million(pricing.get("completion"), written)
    return ModelEntry(provider, name, own if isinstance(own, int) else window, paid, written)


def _per_million(per_token: Json, otherwise: float | None) -> float | None:
    try:
        return round(float(per_token) * 1_000_000, 6)
    except (TypeError, ValueError):
        return otherwise


def _path() -> Path:
    return Path(cache_directory(), "models.json")


def _cached() -> dict[str, Any]:
    try:
        found = json.loads(_path().read_bytes())
        for kept in found.values():
            for row in kept["models"]:
                ModelEntry("", *row)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}  # a cache that is missing or damaged is made again
    return found  # type: ignore[no-any-return]


def _keep(lists: dict[str, Any]) -> None:
    from bough.config.writing import write

    write(_path(), json.dumps(lists) + "\n")
