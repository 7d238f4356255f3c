"""The wire shapes of the providers: their words in, and any provider's request out.

Pure: nothing here reads a file, opens a connection or imports a provider's SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bough.errors import FormatError

if TYPE_CHECKING:
    from bough.formats.types import Format
    from bough.model import Json

_MODULES = {
    "openai.chat": "openai_chat",
    "openai.responses": "openai_responses",
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "gemini": "gemini",
    "qdeveloper": "qdeveloper",
    "bough.jsonl": "jsonl",
}


def names() -> tuple[str, ...]:
    """The names that `get` knows."""
    return tuple(_MODULES)


def get(name: str) -> Format:
    """A format by its name. Raises `FormatError` for a name that is not one of `names()`."""
    if name not in _MODULES:
        raise FormatError(f"There is no format {name!r}; there are {', '.join(_MODULES)}.")
    found: Format = import_module(f"{__name__}.{_MODULES[name]}").FORMAT
    return found


def detect(payload: Json) -> str | None:
    """Which format a reply or a request's list is in; None when it looks like none of them.

    A list of plain strings under roles is the same in several formats, and is taken as `openai.chat`.
    """
    from bough.formats.detection import detect

    return detect(payload)
