"""Read untrusted JSON, line by line or item by item, in bounded memory."""

from __future__ import annotations

import codecs
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NoReturn

from bough.errors import ImporterError
from bough.importers.common.files import file_start
from bough.model import Json
from bough.model.imported import Skipped
from bough.model.values import value

LONGEST_LINE = 256 * 2**20
LARGEST_FILE = 512 * 2**20
"""Limits in bytes, because a line, or a file that is one JSON value, is parsed in memory."""
CHUNK = 2**20
LOOKED_AT = 65_536
"""Bytes that are enough to recognise a file."""
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
"""Brackets, and strings, whose brackets do not count."""
LONGEST_TOKEN = 16
"""The longest number, keyword or escape that the end of a window may cut."""
RAW_KEPT = 2_000
"""Bytes of an invalid line that are kept."""


@value
class Line:
    """One line of a file, parsed."""

    number: int
    value: Json
    place: str
    """`file.jsonl:12`"""


def json_lines(
    stream: IO[bytes], place: str, decoder: json.JSONDecoder | None = None
) -> Iterator[Line | Skipped]:  # fmt: skip
    """The lines of a stream of JSON lines. An invalid or truncated line is a `Skipped`."""
    stream = as_utf8(stream)
    number = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        here = f"{place}:{number}"
        if len(raw) >= LONGEST_LINE and not raw.endswith(b"\n"):
            yield Skipped(here, f"The line is longer than {LONGEST_LINE // 2**20} MB.", decode_text(raw[:RAW_KEPT]))
            _skip_line(stream)
        elif raw.strip():
            yield _line(raw, number, here, decoder or DECODER)


def _line(raw: bytes, number: int, here: str, decoder: json.JSONDecoder) -> Line | Skipped:
    try:
        return Line(number, parse_json(raw, decoder), here)
    except ValueError as error:
        torn = "" if raw.endswith(b"\n") else "The file ends in the middle of a line: "
        return Skipped(here, f"{torn}{error}", decode_text(raw[:RAW_KEPT]))


def read_json(stream: IO[bytes], place: str) -> Json:
    """The value of a JSON file. Raises `ImporterError`."""
    data = as_utf8(stream).read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ImporterError(f"{place} is larger than {LARGEST_FILE // 2**20} MB; nothing was imported of it.")
    try:
        return parse_json(data)
    except ValueError as error:
        raise ImporterError(f"{place} is not JSON: {error}") from None


def json_items(stream: IO[bytes], place: str) -> Iterator[Json | Skipped]:
    """The items of a file that is one JSON list. A truncated list ends with a `Skipped`.

    Raises `ImporterError` if the file is not a list.
    """
    window = _Window(as_utf8(stream))
    if window.next_character() != "[":
        raise ImporterError(f"{place} is not a list of JSON objects.")
    window.at += 1
    number = 0
    while (character := window.next_character()) not in ("]", ""):
        window.at += character == ","
        if character == ",":
            continue
        try:
            yield window.item()
        except _Malformed as error:
            yield Skipped(f"{place}[{number}]", str(error))
        except ValueError as error:
            yield Skipped(f"{place}[{number}]", f"The list ends in the middle: {error}")
            return
        number += 1
    if character == "":
        yield Skipped(f"{place}[{number}]", "The list is truncated.")


class _Malformed(ValueError):
    """A bracketed value that is not valid JSON, and can be skipped."""


class _Window:
    """The part of a long text that is in memory."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.text, self.at, self.ended = "", 0, False

    def more(self) -> None:
        """Reads on, at least as much as is left: the window doubles, so repeated parsing stays linear."""
        rest = self.text[self.at :]
        raw = self._stream.read(max(CHUNK, len(rest)))
        self.ended = not raw
        self.text, self.at = rest + self._decoder.decode(raw, final=self.ended), 0

    def next_character(self) -> str:
        """The next character that is not whitespace; empty at the end."""
        while True:
            while self.at < len(self.text):
                if not self.text[self.at].isspace():
                    return self.text[self.at]
                self.at += 1
            if self.ended:
                return ""
            self.more()

    def item(self) -> Json:
        """The value that begins here. Raises `_Malformed` if it was skipped, else `ValueError`."""
        while True:
            try:
                found, end = DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                reason = "it is nested too deeply." if isinstance(error, RecursionError) else str(error)
                if not self._is_cut_off(error) and (end_of_value := self._end()) is not None:
                    self.at = end_of_value
                    raise _Malformed(reason) from None
                if self.ended or len(self.text) - self.at > LARGEST_FILE:
                    raise ValueError(reason) from None
            else:
                # A number at the end of the window may continue after it.
                if end < len(self.text) or self.ended:
                    self.at = end
                    return found
            self.more()

    def _is_cut_off(self, error: Exception) -> bool:
        """Whether an error probably comes from the end of the window; spares a slow search for the end of the value."""
        if self.ended or not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos > len(self.text) - LONGEST_TOKEN

    def _end(self) -> int | None:
        """The end of the object or list that begins here, whatever it contains; None if it is not in the window."""
        depth = 0
        for character in _TOKENS.finditer(self.text, self.at):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(character[0], 0)
            if depth <= 0:
                return character.end() if character[0] in "]}" and depth == 0 else None
        return None


def parse_json(raw: bytes | str, decoder: json.JSONDecoder | None = None) -> Json:
    """A JSON value. Raises `ValueError` for invalid JSON, including NaN, deep nesting and huge numbers."""
    try:
        return (decoder or DECODER).decode(decode_text(raw) if isinstance(raw, bytes) else raw)
    except RecursionError:
        raise ValueError("it is nested too deeply.") from None


def text_start(path: Path) -> str:
    """The beginning of a text file without leading whitespace; empty for other files."""
    raw = file_start(path, LOOKED_AT)
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "ignore").lstrip()
    return "" if b"\0" in raw else decode_text(raw).lstrip()


def parse_json_or_none(text: Json) -> Json:
    """The JSON value of a column or line; None if it is empty or invalid."""
    try:
        return parse_json(text) if isinstance(text, (str, bytes)) else None
    except ValueError:
        return None


def decode_text(raw: bytes) -> str:
    """UTF-8 text, with or without a byte order mark; invalid bytes are kept as surrogates."""
    return raw.decode("utf-8-sig", "surrogateescape")


def as_utf8(stream: IO[bytes]) -> IO[bytes]:
    """The stream without a byte order mark, converted to UTF-8 if the mark is of UTF-16."""
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
    start = bytes(buffered.peek(4)[:4])
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        spooled = io.BytesIO()
        writer = codecs.getwriter("utf-8")(spooled, "surrogatepass")
        shutil.copyfileobj(codecs.getreader("utf-16")(buffered, "replace"), writer)
        spooled.seek(0)
        return io.BufferedReader(spooled)
    if start.startswith(codecs.BOM_UTF8):
        buffered.read(3)
    return buffered


def _skip_line(stream: IO[bytes]) -> None:
    while (rest := stream.readline(CHUNK)) and not rest.endswith(b"\n"):
        pass


def _refuse(constant: str) -> NoReturn:
    # Python parses NaN and Infinity, which no JSON column and no provider accepts.
    raise ValueError(f"{constant} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)
WITH_CONSTANTS = json.JSONDecoder()
"""Reads NaN and Infinity too: a provider's reply may have had them, and the store keeps them."""
