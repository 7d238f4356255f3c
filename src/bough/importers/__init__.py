"""Importers read files of other programs into conversations. They never see the store; `store.bring_in` stores them."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from bough.errors import ImporterError

if TYPE_CHECKING:
    from pathlib import Path

    from bough.importers.types import Importer

_MODULES = {
    "bough": "bough_jsonl",
    "claude-code": "claude_code",
    "codex": "codex",
    "chatgpt": "chatgpt",
    "cpe": "cpe",
    "pingu": "pingu",
    "egirl": "egirl",
    "orcx": "orcx",
    "amazon-q": "amazon_q",
    "claude.ai": "claude_ai",
    "llm": "llm",
    "gptme": "gptme",
    "goose": "goose",
    "opencode": "opencode",
    "openai-chat": "openai_chat",
}
"""Each module has an `IMPORTER`. The first that recognises a path reads it, so the most specific come first."""


def names() -> tuple[str, ...]:
    """The names of all importers, as `get` and `--from` take them."""
    return tuple(_MODULES)


def get(name: str) -> Importer:
    """An importer by its name. Raises `ImporterError` for a name that is not one of `names()`."""
    if name not in _MODULES:
        raise ImporterError(f"There is no importer {name!r}; there are {', '.join(_MODULES)}.")
    found: Importer = import_module(f"{__name__}.{_MODULES[name]}").IMPORTER
    return found


def detect(path: Path) -> Importer:
    """The importer for a file or directory. Raises `ImporterError` if it is missing or not recognised."""
    from bough.importers.common.sqlite import has_tables

    if not path.exists():
        raise ImporterError(f"There is no file or directory {str(path)!r}.")
    for name in _MODULES:
        importer = get(name)
        with suppress(ImporterError):  # a file that is damaged for one importer may be valid for another
            if importer.recognises(path):
                return importer
    if has_tables(path, messages=("digest", "covers"), sessions=("head", "revision")):
        raise ImporterError(
            f"{str(path)!r} is a bough store. Copy it with `bough db copy`, or add its content to this "
            f"store: bough --db {str(path)!r} export --all | bough import -"
        )
    check_readable(path)
    raise ImporterError(
        f"{str(path)!r} looks like none of the files that bough can import; nothing was imported. "
        f"If you know what it is, say so with --from: {', '.join(_MODULES)}."
    )


def check_readable(path: Path) -> None:
    """Raises `ImporterError` for a zip or a database that cannot be read."""
    from bough.importers.common.files import is_zip, open_files
    from bough.importers.common.sqlite import is_sqlite, open_tables

    if is_zip(path):
        with open_files(path):
            pass
    if is_sqlite(path):
        with open_tables(path, in_place=True) as tables:
            tables.names  # noqa: B018 - the first read


def find(path: Path) -> list[tuple[Importer, Path]]:
    """The path with its importer; for a directory that none recognises, its entries. Raises `ImporterError`."""
    try:
        return [(detect(path), path)]
    except ImporterError:
        if not path.is_dir():
            raise
        inside = [(importer, child) for child in sorted(path.iterdir()) if (importer := _importer_for(child))]
        if not inside:
            raise
        return inside


def refused(path: Path, found: list[tuple[Importer, Path]]) -> list[ImporterError]:
    """Errors for the damaged and unsafe entries of a directory whose other entries were found."""
    inside = {child for _, child in found if child.parent == path}
    return (
        [error for child in sorted(path.iterdir()) if child not in inside and (error := _unreadable(child))]
        if inside
        else []
    )


def _unreadable(path: Path) -> ImporterError | None:
    try:
        check_readable(path)
    except ImporterError as error:
        return error
    return None


def _importer_for(path: Path) -> Importer | None:
    try:
        return detect(path)
    except ImporterError:
        return None


def default_paths() -> list[tuple[Importer, Path]]:
    """The paths with importable files on this machine."""
    importers = map(get, _MODULES)
    return [(importer, path) for importer in importers for path in importer.default_paths()]
