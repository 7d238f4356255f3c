"""Configuration from `config.toml`, the environment and flags, with the origin of each value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.config.keys import BY_NAME, KEYS, NAMED, ConfigKey, find_key, suggestion
from bough.config.reading import parse_value, read
from bough.errors import ConfigError
from bough.locations import config_directory, is_server_url
from bough.model.values import value

VARIABLE = "BOUGH_CONFIG"
UNSET: Mapping[str, tuple[str, Any]] = {}


@value
class Setting:
    """A value and its origin: `default`, `FILE:LINE`, `$VARIABLE`, or a flag."""

    name: str
    value: Any
    origin: str
    key: ConfigKey

    @property
    def shown(self) -> Any:
        """The value without secrets."""
        from bough.config.redact import redact

        return redact(self)


class Config:
    """The settings in force, made by `load`."""

    def __init__(self, path: Path, settings: dict[str, Setting]) -> None:
        self.path = path
        self._settings = settings

    def get(self, name: str) -> Any:
        """The value of a key, or its default: `config.get("run.model")`. Raises `ConfigError` for an unknown key."""
        return self.setting(name).value

    def setting(self, name: str) -> Setting:
        """The value of a key with its origin. Raises `ConfigError` for an unknown key."""
        if name in self._settings:
            return self._settings[name]
        key = find_key(name)
        if key is None:
            raise ConfigError(f"{name!r} is not a key of the configuration.{suggestion(name)}")
        return Setting(name, key.default, "default", key)

    def settings(self) -> list[Setting]:
        """All settings, those with default values too, in the order of `KEYS`."""
        fixed = [self.setting(name) for name in BY_NAME if "*" not in name]
        chosen = [one for name, one in self._settings.items() if one.key.name != name]
        return fixed + sorted(chosen, key=lambda one: (NAMED.index(one.name.partition(".")[0]), one.name))

    def names(self, section: str) -> list[str]:
        """The tables of a section: `config.names("agents")`."""
        within = [name for name in self._settings if name.startswith(f"{section}.")]
        return list(dict.fromkeys(name.removeprefix(f"{section}.").rpartition(".")[0] for name in within))

    def table(self, section: str, name: str | None = None) -> dict[str, Any]:
        """The values of one table: `config.table("run")`, or `config.table("agents", "reviewer")`.

        Keys without a value or a default are omitted. Raises `ConfigError` for a table that does not exist.
        """
        if name is not None and name not in self.names(section):
            raise ConfigError(self._missing(section, name))
        before = f"{section}." if name is None else f"{section}.{name}."
        pattern = f"{section}." if name is None else f"{section}.*."
        keys = [key.name.removeprefix(pattern) for key in KEYS if key.name.startswith(pattern)]
        values = {key: self.get(before + key) for key in keys}
        return {key: one for key, one in values.items() if one is not None}

    def tables(self, section: str) -> dict[str, dict[str, Any]]:
        """All tables of a section by name: `config.tables("providers")`."""
        return {name: self.table(section, name) for name in self.names(section)}

    def _missing(self, section: str, name: str) -> str:
        known = self.names(section)
        listed = f"It has {', '.join(known)}." if known else "It has none."
        return f"There is no [{section}.{name}] in {self.path}. {listed}"


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The file to read when no flag names one: `$BOUGH_CONFIG`, or `config.toml` in the user's directory."""
    if named := environ.get(VARIABLE):
        return Path(named).expanduser()
    return Path(config_directory(environ), "config.toml")


def load(
    path: str | Path | None = None,
    environ: Mapping[str, str] = os.environ,
    flags: Mapping[str, tuple[str, Any]] = UNSET,
) -> Config:
    """Load the configuration. `flags` are values of the command line: `{"run.model": ("-m", "local")}`.

    Flags take precedence over the environment, and the environment over the file. Raises `ConfigError` for a named file
    that does not exist, an unknown key, and a value of the wrong type.
    """
    file = Path(path).expanduser() if path is not None else default_path(environ)
    settings = _from_file(file) if file.exists() else {}
    if (path is not None or environ.get(VARIABLE)) and not file.exists():
        by = "--config" if path is not None else f"${VARIABLE}"
        raise ConfigError(f"There is no file {file}, which {by} names. `bough config edit` creates it.")
    for key in KEYS:
        if key.variable and (text := environ.get(key.variable)):
            settings[key.name] = Setting(key.name, parse_value(key, text, f"${key.variable}"), f"${key.variable}", key)
    for name, (flag, given) in flags.items():
        if given is not None:
            settings[name] = Setting(name, given, flag, BY_NAME[name])
    return Config(file, settings)


def _from_file(path: Path) -> dict[str, Setting]:
    found = {}
    for name, (given, line) in read(path).items():
        key = find_key(name)
        assert key is not None  # checked by read
        absolute = _absolute(given, path.parent) if key.kind == "path" else given
        found[name] = Setting(name, absolute, f"{path}:{line}" if line else str(path), key)
    return found


def _absolute(given: str, directory: Path) -> str:
    """Resolve a path relative to the directory of the file; a server's URL is returned unchanged."""
    return given if is_server_url(given) else str(directory / Path(given).expanduser())
