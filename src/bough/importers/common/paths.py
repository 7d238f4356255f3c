"""Directories where applications keep their files, by platform."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def xdg_data_directory() -> Path:
    """`$XDG_DATA_HOME`, for programs that use it on every platform."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def data_directory() -> Path:
    """The platform's directory for application data."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return _application_support() or xdg_data_directory()


def config_directory() -> Path:
    """The platform's directory for application settings."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return _application_support() or Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _application_support() -> Path | None:
    return Path.home() / "Library" / "Application Support" if sys.platform == "darwin" else None
