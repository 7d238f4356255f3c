"""What the user has settled: one `config.toml`, the environment and the flags, and where each value comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.config.keys import BY_NAME, KEYS, NAMED, Key, find_key, suggestion
from bough.config.reading import parsed, read
from bough.errors import ConfigError
from bough.locations import config_directory, is_server_url
from bough.model.values import value

VARIABLE = "BOUGH_CONFIG"
UNSET: Mapping[str, tuple[str, Any]] = {}


@value
class Setting:
    """A value, and who said it: `default`, `FILE:LINE`, `$VARIABLE`, or a flag."""

    name: str
    value: Any
    origin: str
    key: Key

    @property
    def shown(self) -> Any:
        """The value as anybody may see it."""
        from bough.config.redact import hide

        return hide(self)


class Config:
    """The settings in force. `load` makes one."""

    def __init__(self, path: Path, settings: dict[str, Setting]) -> None:
        self.path = path
        self._settings = settings

    def get(self, name: str) -> Any:
        """The value of a key by its dotted name, or its default: `config.get("run.model")`."""
        return self.setting(name).value

    def setting(self, name: str) -> Setting:
        """The value of a key with its origin. Raises `ConfigError` for a key that does not exist."""
        if name in self._settings:
            return self._settings[name]
        key = find_key(name)
        if key is None:
            raise ConfigError(f"{name!r} is not a key of the configuration.{suggestion(name)}")
        return Setting(name, key.default, "default", key)

    def settings(self) -> list[Setting]:
        """Everything that is set, and the defaults of everything that is not, in the order of the table."""
        fixed = [self.setting(name) for name in BY_NAME if "*" not in name]
        chosen = [one for name, one in self._settings.items() if one.key.name != name]
        return fixed + sorted(chosen, key=lambda one: (NAMED.index(one.name.partition(".")[0]), one.name))

    def names(self, section: str) -> list[str]:
        """The names that the user chose in a section: `config.names("agents")`."""
        within = [name for name in self._settings if name.startswith(f"{section}.")]
        return list(dict.fromkeys(name.removeprefix(f"{section}.").rpartition(".")[0] for name in within))

    def table(self, section: str, name: str | None = None) -> dict[str, Any]:
        """The values of one table: `config.table("run")`, or `config.table("agents", "reviewer")`.

        Keys that are neither set nor have a default are left out. Raises `ConfigError` for a name that is not there.
        """
        if name is not None and name not in self.names(section):
            raise ConfigError(self._missing(section, name))
        before = f"{section}." if name is None else f"{section}.{name}."
        pattern = f"{section}." if name is None else f"{section}.*."
        keys = [key.name.removeprefix(pattern) for key in KEYS if key.name.startswith(pattern)]
        values = {key: self.get(before + key) for key in keys}
        return {key: one for key, one in values.items() if one is not None}

    def tables(self, section: str) -> dict[str, dict[str, Any]]:
        """All named tables of a section: `config.tables("providers")`."""
        return {name: self.table(section, name) for name in self.names(section)}

    def _missing(self, section: str, name: str) -> str:
        known = self.names(section)
        listed = f"It has {', '.join(known)}." if known else "It has none."
        return f"There is no [{section}.{name}] in {self.path}. {listed}"


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The file that is read when no flag names one: `$BOUGH_CONFIG`, or `config.toml` in the user's directory."""
    if named := environ.get(VARIABLE):
        return Path(named).expanduser()
    return Path(config_directory(environ), "config.toml")


def load(
    path: str | Path | None = None,
    environ: Mapping[str, str] = os.environ,
    flags: Mapping[str, tuple[str, Any]] = UNSET,
) -> Config:
    """Reads the configuration. `flags` are what the command line said: `{"run.model": ("-m", "local")}`.

    A flag wins over the environment, the environment over the file. Raises `ConfigError` for a file that was named and
    is not there, for a key that does not exist, and for a value of the wrong type.
    """
    place = Path(path).expanduser() if path is not None else default_path(environ)
    settings = _from_file(place) if place.exists() else {}
    if (path is not None or environ.get(VARIABLE)) and not place.exists():
        by = "--config" if path is not None else f"${VARIABLE}"
        raise ConfigError(f"There is no file {place}, which {by} names. `bough config edit` makes it.")
    for key in KEYS:
        if key.variable and (said := environ.get(key.variable)):
            settings[key.name] = Setting(key.name, parsed(key, said, f"${key.variable}"), f"${key.variable}", key)
    for name, (flag, given) in flags.items():
        if given is not None:
            settings[name] = Setting(name, given, flag, BY_NAME[name])
    return Config(place, settings)


def _from_file(path: Path) -> dict[str, Setting]:
    found = {}
    for name, (given, line) in read(path).items():
        key = find_key(name)
        assert key is not None  # read has checked it
        absolute = _absolute(given, path.parent) if key.kind == "path" else given
        found[name] = Setting(name, absolute, f"{path}:{line}" if line else str(path), key)
    return found


def _absolute(given: str, directory: Path) -> str:
    """A path in the file is relative to the file. A server's URL stays as it is."""
    return given if is_server_url(given) else str(directory / Path(given).expanduser())
