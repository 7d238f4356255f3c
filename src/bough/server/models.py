"""Which provider and model a name in a request means."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING

from bough.config import Config
from bough.providers import default, find

if TYPE_CHECKING:
    from bough.providers.types import Provider


class Models:
    """Resolves names of models and keeps their providers. Safe to use from several threads."""

    def __init__(self, config: Config, aliases: Mapping[str, str], offered: tuple[str, ...] = ()) -> None:
        self._tables = config.tables("providers")
        self._aliases = aliases
        self.offered = offered
        """The models of `--model`: the first one is the default."""
        self._default = offered[0] if offered else str(config.get("run.model") or default(settings=self._tables))
        self._providers: dict[str, Provider] = {}
        self._lock = Lock()

    @property
    def names(self) -> list[str]:
        """The names to list: the aliases, the models of `--model`, and the default."""
        return list(dict.fromkeys((*self._aliases, *self.offered, self._default)))

    def spec(self, name: str | None) -> str:
        """`PROVIDER:MODEL` for a name: an alias, a spec, or a bare name, which goes to the default provider."""
        if not name:
            return self._default
        if name in self._aliases:
            return self._aliases[name]
        provider, colon, _ = name.partition(":")
        if name == "local" or (colon and self._is_provider(provider)):
            return name
        return f"{self._default.partition(':')[0]}:{name}"

    def find(self, name: str | None) -> Provider:
        """The provider for a name, made once. Raises `ProviderError`."""
        spec = self.spec(name)
        with self._lock:
            if spec not in self._providers:
                self._providers[spec] = find(spec, self._tables)
            return self._providers[spec]

    def close(self) -> None:
        """Close all providers."""
        with self._lock:
            for provider in self._providers.values():
                provider.close()
            self._providers.clear()

    def _is_provider(self, name: str) -> bool:
        from bough.providers.catalog import SERVICES

        return name in self._tables or name in SERVICES or name in ("local", "scripted") or self._is_plugin(name)

    def _is_plugin(self, name: str) -> bool:
        from importlib.metadata import entry_points

        return bool(entry_points(group="bough.providers", name=name))
