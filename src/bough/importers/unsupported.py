"""Files of known programs that bough does not import: they are named, so that nobody looks for a mistake."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from bough.importers.common.json_reader import text_start
from bough.importers.common.paths import config_directory, data_directory
from bough.importers.common.sqlite import has_tables


class UnsupportedProgram(NamedTuple):
    """A program, and how its files are known: by tables of SQLite, by the end of the name, or by a directory."""

    title: str
    tables: dict[str, tuple[str, ...]] | None = None
    ending: str = ""
    folder: str = ""


PROGRAMS = (
    UnsupportedProgram("mods", {"conversations": ("id", "title", "updated_at", "api")}),
    UnsupportedProgram("Crush", {"sessions": ("prompt_tokens", "message_count"), "messages": ("parts", "session_id")}),
    UnsupportedProgram("oterm", {"chat": ("name", "model"), "message": ("author", "text", "images")}),
    UnsupportedProgram("elia", {"chat": ("started_at",), "message": ("chat_id", "parent_id", "content")}),
    UnsupportedProgram("Zed", {"threads": ("id", "summary", "data_type", "data")}),
    UnsupportedProgram("LM Studio", ending=".conversation.json"),
    UnsupportedProgram("Windsurf", ending=".pb", folder="cascade"),
    UnsupportedProgram("mods", ending=".gob"),
    UnsupportedProgram("Continue", ending=".json", folder=".continue"),
    UnsupportedProgram("aichat", ending=".yaml", folder="aichat"),
)


def unsupported_program(path: Path) -> str | None:
    """The name of the program whose file this is, if it is known but not supported."""
    for program in PROGRAMS:
        if program.tables is not None:
            if has_tables(path, **program.tables):
                return program.title
        elif path.name.endswith(program.ending) and (not program.folder or program.folder in path.absolute().parts):
            return program.title
    return None


_MARKDOWN_EXPORT = re.compile(r"^### \S.* · `[0-9a-z]{4,}`", re.MULTILINE)
"""A heading of a message, with its id, in a Markdown export of bough."""


def reading_copy(path: Path) -> str | None:
    """What a file is that was made to be read by people, so that parts of a conversation are missing; else None."""
    text = text_start(path).lstrip().lstrip("\ufeff")
    if text[:15].lower().startswith(("<!doctype html", "<html")):
        return "a page of HTML"
    return "a Markdown export of bough" if _MARKDOWN_EXPORT.search(text) else None


def unsupported_paths() -> list[tuple[str, Path]]:
    """The places on this machine where such programs keep their files."""
    home, zed = Path.home(), "Zed" if sys.platform in ("darwin", "win32") else "zed"
    places = (
        ("Windsurf", home / ".codeium" / "windsurf" / "cascade"),
        ("Zed", data_directory() / zed / "threads" / "threads.db"),
        ("Continue", home / ".continue" / "sessions"),
        ("LM Studio", home / ".lmstudio" / "conversations"),
        ("aichat", config_directory() / "aichat" / "sessions"),
        ("oterm", data_directory() / "oterm" / "store.db"),
    )  # fmt: skip
    return [(title, path) for title, path in places if path.exists()]
