"""Directories of VS Code and its relatives: settings of the user, and the folder of each workspace."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bough.formats.payload import at, text_or_none
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.paths import config_directory


def user_directories(*editors: str) -> list[Path]:
    """The `User` directories of editors, of a remote server too."""
    found = [config_directory() / editor / "User" for editor in editors]
    if sys.platform.startswith("linux"):
        found += [Path.home() / f".{server}-server" / "data" / "User" for server in ("vscode", "cursor")]
    return [path for path in found if path.is_dir()]


def workspace_folder(storage: Path) -> str | None:
    """The folder of a workspace, which `workspace.json` of its storage names."""
    try:
        about = parse_json_or_none((storage / "workspace.json").read_bytes())
    except OSError:
        return None
    url = text_or_none(at(about, "folder")) or text_or_none(at(about, "workspace"))
    if url is None:
        return None
    parts = urlsplit(url)
    path = unquote(parts.path)
    # `file:///c%3A/Users/me` is `c:/Users/me`.
    return path[1:] if parts.scheme == "file" and path[2:3] == ":" else path if parts.scheme == "file" else url
