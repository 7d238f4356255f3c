"""Replies from a file, for demonstrations and tests: no network, no model, always the same.

One reply per line: plain text, or a JSON object with `blocks` in the format `bough.jsonl`. A call may lack `call_id`,
and its `arguments` may be an object. An object may also have `usage` (`{"input_tokens": 3, …}`), `delay` (seconds
before each piece), `cut` (number of pieces before the connection is lost) and `error` (a kind of `ProviderError`, with
`message`). Empty lines are skipped, and `\\n` in a line of text is a newline.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from threading import Event
from time import time_ns
from typing import Any, get_args

from bough.errors import FormatError, ProviderError, ProviderErrorKind
from bough.formats import jsonl
from bough.model import Json, Usage
from bough.providers.types import Piece, Tool

_WORDS = re.compile(r"\s*\S+\s*|\s+")
_BLOCK_TYPES = ("text", "thinking", "tool_call")


class ScriptedProvider:
    """Replays a file. The next line is chosen by the number of replies in the dialog, modulo the number of lines.

    The same dialog therefore gets the same reply in every process, and a fork continues where it forks.
    """

    name = "scripted"
    format = "bough.jsonl"
    window: int | None = 128_000

    def __init__(self, path: str | Path) -> None:
        self.model = str(path)
        self._lines = _read_lines(Path(path).expanduser())

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,  # noqa: ARG002
        tools: Sequence[Tool] = (),  # noqa: ARG002
        max_tokens: int | None = None,  # noqa: ARG002
        options: dict[str, Json] | None = None,  # noqa: ARG002
    ) -> ScriptedAnswer:
        """Answer with the next line. Raises `ProviderError` if the line is an error."""
        replies = sum(message["role"] == "assistant" for message in messages)
        line = self._lines[replies % len(self._lines)]
        if "error" in line:
            message = str(line.get("message") or f"The script says: {line['error']}.")
            raise ProviderError(message, kind=line["error"], retry_after=line.get("retry_after"))
        return ScriptedAnswer(line, replies)

    def close(self) -> None:
        """Does nothing."""


class ScriptedAnswer:
    """Answer of one line, word by word."""

    request_id = None

    def __init__(self, line: dict[str, Json], replies: int) -> None:
        self._line = line
        self._blocks = [_with_id(block, f"call_{replies}_{place}") for place, block in enumerate(line["blocks"])]
        self._emitd: dict[int, Json] = {}
        self._stopped = Event()
        self._first_token_at: int | None = None
        self._pieces = self._emit()

    def __iter__(self) -> Iterator[Piece]:
        """The words as they arrive. Raises `ProviderError` where the script cuts the reply."""
        return self._pieces

    def reply(self) -> dict[str, Json]:
        """The reply so far."""
        return {"role": "assistant", "blocks": list(self._emitd.values())}

    @property
    def first_token_at(self) -> int | None:
        """Time of the first word, in microseconds since 1970."""
        return self._first_token_at

    @property
    def usage(self) -> Usage:
        """Usage as given in the script."""
        return Usage(**self._line.get("usage", {}))

    def close(self) -> None:
        """Stop the reply, and wake up a thread that waits for the next word."""
        self._stopped.set()

    def _emit(self) -> Generator[Piece, None, None]:
        cut = self._line.get("cut")
        for place, so_far, piece in list(self._parts())[:cut]:
            if self._stopped.wait(self._line.get("delay", 0)):
                return
            self._first_token_at = self._first_token_at or time_ns() // 1000
            self._emitd[place] = so_far
            yield piece
        if cut is not None:
            raise ProviderError("The script cuts the reply here. What came until then is kept.", kind="cut")

    def _parts(self) -> Iterator[tuple[int, Json, Piece]]:
        """The pieces, each with the position of its block and the block up to this piece."""
        for place, block in enumerate(self._blocks):
            if block["type"] == "tool_call":
                yield place, block, Piece("call", block["name"], place, block["call_id"])
                yield place, block, Piece("arguments", block["arguments"], place)
                continue
            text = ""
            for word in _WORDS.findall(block["text"]):
                text += word
                yield place, {**block, "text": text}, Piece(block["type"], word, place)


def _with_id(block: Json, call_id: str) -> Json:
    return {"call_id": call_id, **block} if block["type"] == "tool_call" else block


def _read_lines(path: Path) -> list[dict[str, Json]]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProviderError(f"The script {str(path)!r} cannot be read: {error}", kind="not_found") from None
    lines = [_read_line(line, f"{path.name}:{n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise ProviderError(f"The script {str(path)!r} has no replies; write one per line.", kind="not_found")
    return lines


def _read_line(line: str, where: str) -> dict[str, Json]:
    if not line.lstrip().startswith("{"):
        return {"blocks": [{"type": "text", "text": line.replace("\\n", "\n")}]}
    try:
        return _checked(json.loads(line), where)
    except (ValueError, TypeError, RecursionError, FormatError) as error:
        raise ProviderError(f"{where} is no reply: {error}", kind="refused") from None


def _checked(line: dict[str, Any], where: str) -> dict[str, Json]:
    """The line with complete calls, if all its blocks are valid. Raises `ValueError` and `FormatError`."""
    if "error" in line and line["error"] not in get_args(ProviderErrorKind):
        raise ValueError(f"unknown kind of error {line['error']!r}; known: {', '.join(get_args(ProviderErrorKind))}")
    Usage(**line.get("usage", {}))
    for place, block in enumerate(line.setdefault("blocks", [])):
        if block.get("type") not in _BLOCK_TYPES:
            raise ValueError(f"a reply is made of {', '.join(_BLOCK_TYPES)}, not of {block.get('type')!r}")
        if block["type"] == "tool_call" and not isinstance(block.get("arguments"), str):
            block["arguments"] = json.dumps(block.get("arguments", {}))
        jsonl.decode_block(_with_id(block, "call"), f"{where}.blocks[{place}]")
    return line
