"""API keys that `bough keys set` stored: in the system's keyring, or in a file that only its owner can read.

The file lists which providers have a key, so that the keyring is imported only for one of them.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bough.config.writing import write
from bough.errors import ConfigError
from bough.locations import NAME, config_directory

Place: TypeAlias = Literal["keyring", "file"]
FILE = "keys.json"


def stored_keys() -> dict[str, Place]:
    """Where the key of each provider is stored. Raises `ConfigError` for a file that cannot be used."""
    return {name: "file" if "key" in entry else "keyring" for name, entry in _entries().items()}


def find_key(provider: str) -> str | None:
    """The stored key of a provider, or None. Raises `ConfigError` for a file or a keyring that cannot be used."""
    entry = _entries().get(provider)
    if entry is None:
        return None
    if "key" in entry:
        return str(entry["key"])
    backend = _keyring()
    if backend is None:
        raise ConfigError(f"The key of {provider} is in a keyring that cannot be used here: bough keys set {provider}")
    try:
        found: str | None = backend.get_password(NAME, provider)
    except Exception as error:  # each backend has errors of its own
        raise ConfigError(f"The keyring did not give the key of {provider}: {error}") from None
    return found


def set_key(provider: str, key: str, *, in_file: bool = False) -> Place:
    """Store a key, in the keyring if there is one; where it is then."""
    backend = None if in_file else _keyring()
    entries = _entries()
    _forget(provider, entries)
    if backend is not None:
        with suppress(Exception):  # a locked keyring, or one without a session: the file takes the key
            backend.set_password(NAME, provider, key)
            _save({**entries, provider: {"in": "keyring"}})
            return "keyring"
    _save({**entries, provider: {"key": key}})
    return "file"


def remove_key(provider: str) -> bool:
    """Delete the key of a provider; whether there was one."""
    entries = _entries()
    if provider not in entries:
        return False
    _forget(provider, entries)
    _save(entries)
    return True


def _forget(provider: str, entries: dict[str, dict[str, Any]]) -> None:
    entry = entries.pop(provider, None)
    if entry is not None and "key" not in entry and (backend := _keyring()) is not None:
        with suppress(Exception):  # the key may have been deleted in the keyring
            backend.delete_password(NAME, provider)


def _keyring() -> Any:
    """The system's keyring; None if there is none, or the package is not installed."""
    try:
        import keyring
    except ImportError:
        return None
    backend = keyring.get_keyring()
    return backend if getattr(backend, "priority", 0) >= 1 else None


def _path() -> Path:
    return Path(config_directory(), FILE)


def _entries() -> dict[str, dict[str, Any]]:
    path = _path()
    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise ConfigError(f"{path} can be read by others, and is not used: chmod 600 {path}")
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Delete it, and store the keys again.") from None
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise ConfigError(f"{path} is damaged. Delete it, and store the keys again.")
    return found


def _save(entries: dict[str, dict[str, Any]]) -> None:
    write(_path(), json.dumps(entries, indent=1, sort_keys=True) + "\n")
