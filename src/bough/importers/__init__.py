"""Importers read files of other programs into conversations. They never see the store; `store.bring_in` stores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from bough.errors import ImporterError
from bough.importers.directories import Found, split, walk
from bough.importers.unsupported import reading_copy, unsupported_program

if TYPE_CHECKING:
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
    "gemini-cli": "gemini_cli",
    "pi": "pi",
    "vibe": "vibe",
    "cline": "cline",
    "aider": "aider",
    "cursor": "cursor",
    "copilot": "copilot",
    "open-webui": "open_webui",
    "librechat": "librechat",
    "atif": "atif",
    "swe-agent": "swe_agent",
    "chats": "chats",
}
"""Each module has an `IMPORTER`. The first that recognises a path reads it, so the most specific come first."""


_ALIASES = {"openai-chat": "chats"}
"""Former names of importers."""


def names() -> tuple[str, ...]:
    """The names of all importers, as `get` and `--from` take them."""
    return tuple(_MODULES)


def get(name: str) -> Importer:
    """An importer by its name. Raises `ImporterError` for a name that is not one of `names()`."""
    name = _ALIASES.get(name, name)
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
    if program := unsupported_program(path):
        raise ImporterError(f"{str(path)!r} is a file of {program}, which bough cannot import; nothing was imported.")
    if path.is_file() and (kind := reading_copy(path)):
        raise ImporterError(
            f"{str(path)!r} is {kind}, made for reading: it does not say which calls, branches and ids there were; "
            "nothing was imported. Import the same conversations as data: of bough, `bough export -f jsonl`; of "
            "another program, the files that it keeps or exports as JSON."
        )
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


def find(path: Path, known: Callable[[str], str | None] = lambda _: None) -> list[Found]:
    """What to read at a path: the file, or what each importer reads of a directory. Raises `ImporterError`.

    `known` is the name of the importer that has read a file before, if the file is unchanged.
    """
    if not path.is_dir():
        return [Found(detect(path), path)]
    importers = [get(name) for name in _MODULES]
    own = [importer for importer in importers if path in importer.default_paths()]
    return [Found(own[0], path)] if own else split(path, importers, known) or [Found(detect(path), path)]


def refused(path: Path, found: Sequence[Found]) -> list[ImporterError]:
    """Errors for the damaged and unsafe files of a directory whose other files were found."""
    read = {one.path for one in found}
    if path in read or not path.is_dir():
        return []
    return [error for file in map(Path, walk(path)) if file not in read and (error := _unreadable(file))]


def _unreadable(path: Path) -> ImporterError | None:
    try:
        check_readable(path)
    except ImporterError as error:
        return error
    return None


def default_paths() -> list[Found]:
    """The paths with importable files on this machine."""
    importers = map(get, _MODULES)
    return [Found(importer, path) for importer in importers for path in importer.default_paths()]
