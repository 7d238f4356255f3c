"""Wire formats of the providers: decode replies and requests into messages, encode messages into requests.

Pure functions: no files, no connections, no provider SDKs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bough.errors import FormatError

if TYPE_CHECKING:
    from bough.formats.types import Decoded, Format
    from bough.model import Json

_MODULES = {
    "openai.chat": "openai_chat",
    "openai.responses": "openai_responses",
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "gemini": "gemini",
    "gemini.interactions": "gemini_interactions",
    "cohere": "cohere",
    "ollama": "ollama",
    "qdeveloper": "qdeveloper",
    "bough.jsonl": "jsonl",
}


def names() -> tuple[str, ...]:
    """Names of all formats."""
    return tuple(_MODULES)


def get(name: str) -> Format:
    """The format of that name. Raises `FormatError` if it is not one of `names()`."""
    if name not in _MODULES:
        raise FormatError(f"There is no format {name!r}; there are {', '.join(_MODULES)}.")
    found: Format = import_module(f"{__name__}.{_MODULES[name]}").FORMAT
    return found


def detect(payload: Json) -> str | None:
    """Name of the format of a reply or of a request's list; None if no format matches.

    Messages with a role and a plain string are the same in several formats, and are taken as `openai.chat`.
    """
    from bough.formats.detection import detect

    return detect(payload)


def decode_any(payload: Json) -> tuple[str | None, Decoded]:
    """A reply, or messages, of any provider, and the name of the format. Nothing that is JSON is refused.

    What cannot be understood is kept whole as `Other`, with a `FormatWarning`. Raises `FormatError` for a payload that
    is neither JSON nor an SDK's object.
    """
    from bough.formats.any_reply import decode_any

    return decode_any(payload)
