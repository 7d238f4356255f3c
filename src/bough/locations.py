"""Where bough keeps its files on each platform, and what an address is: a file, a server, this machine.

The directories are those of `platformdirs`, without a dependency and without its import time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

NAME = "bough"


def data_directory(environ: Mapping[str, str] = os.environ) -> str:
    """Directory of the default store. It is made when something is first stored in it."""
    return _directory(environ, "XDG_DATA_HOME", (".local", "share"))


def config_directory(environ: Mapping[str, str] = os.environ) -> str:
    """Directory of `config.toml`."""
    return _directory(environ, "XDG_CONFIG_HOME", (".config",))


def state_directory(environ: Mapping[str, str] = os.environ) -> str:
    """Directory of the chat's input history."""
    return _directory(environ, "XDG_STATE_HOME", (".local", "state"))


def cache_directory(environ: Mapping[str, str] = os.environ) -> str:
    """Directory of downloads that can be fetched again: `$BOUGH_CACHE`, or bough's part of the user's cache."""
    if chosen := environ.get("BOUGH_CACHE"):
        return os.path.expanduser(chosen)
    if sys.platform == "win32":
        return os.path.join(_local_app_data(environ), NAME, "Cache")
    if sys.platform == "darwin":
        return os.path.join(os.path.expanduser("~"), "Library", "Caches", NAME)
    return _directory(environ, "XDG_CACHE_HOME", (".cache",))


def is_server_url(location: str | os.PathLike[str]) -> bool:
    """Whether a store's location is the URL of a PostgreSQL server; anything else is a file."""
    return str(location).startswith(("postgres://", "postgresql://"))


def without_password(location: str) -> str:
    """A store's location as it may be shown: a URL without its passwords, a file as it is."""
    if not is_server_url(location):
        return location
    import re

    return re.sub(r"(://[^:/?@]*:).*(?=@)|([?&](?:ssl)?password=)[^&]*", r"\1\2***", location)


def is_loopback(url: str) -> bool:
    """Whether a URL's host is on the loopback interface, which no proxy can reach."""
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _directory(environ: Mapping[str, str], variable: str, default: tuple[str, ...]) -> str:
    if sys.platform == "win32":
        return os.path.join(_local_app_data(environ), NAME)
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", NAME)
    return os.path.join(environ.get(variable) or os.path.join(home, *default), NAME)


def _local_app_data(environ: Mapping[str, str]) -> str:
    return environ.get("LOCALAPPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Local")
