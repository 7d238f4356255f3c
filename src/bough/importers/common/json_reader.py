"""JSON from files that nobody vouches for: line by line or item by item, in bounded memory."""

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
from bough.importers.common.files import head
from bough.model import Json
from bough.model.imported import Skipped
from bough.model.values import value

LONGEST_LINE = 256 * 2**20
LARGEST_FILE = 512 * 2**20
CHUNK = 2**20
LOOKED_AT = 65_536
"""Bytes that are enough to see what a file is."""
_SIGNS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
"""What opens and closes, and strings, in which nothing does."""
LONGEST_SIGN = 16
"""Characters of a number, a word or an escape that may be cut by the end of a window."""
RAW = 2_000
"""Characters of a bad line that are kept."""


@value
class Line:
    """One line of a file, parsed."""

    number: int
    value: Json
    place: str
    """`file.jsonl:12`"""


def json_lines(stream: IO[bytes], place: str) -> Iterator[Line | Skipped]:
    """The lines of a stream of JSON, one at a time. What is not JSON, or torn off at the end, is a `Skipped`."""
    stream = as_utf8(stream)
    number = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        here = f"{place}:{number}"
        if len(raw) >= LONGEST_LINE and not raw.endswith(b"\n"):
            yield Skipped(here, f"The line is longer than {LONGEST_LINE // 2**20} MB.", decode_text(raw[:RAW]))
            _to_the_end_of_the_line(stream)
        elif raw.strip():
            yield _line(raw, number, here)


def _line(raw: bytes, number: int, here: str) -> Line | Skipped:
    try:
        return Line(number, parse_json(raw), here)
    except ValueError as error:
        torn = "" if raw.endswith(b"\n") else "The file ends in the middle of a line: "
        return Skipped(here, f"{torn}{error}", decode_text(raw[:RAW]))


def read_json(stream: IO[bytes], place: str) -> Json:
    """A whole file of JSON. Raises `ImporterError`."""
    data = as_utf8(stream).read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ImporterError(f"{place} is larger than {LARGEST_FILE // 2**20} MB; nothing was imported of it.")
    try:
        return parse_json(data)
    except ValueError as error:
        raise ImporterError(f"{place} is not JSON: {error}") from None


def json_items(stream: IO[bytes], place: str) -> Iterator[Json | Skipped]:
    """The items of a file that is one JSON list, one at a time. A list that is torn off ends with a `Skipped`.

    Raises `ImporterError` for a file that is anything but a list.
    """
    window = _Window(as_utf8(stream))
    if window.next_sign() != "[":
        raise ImporterError(f"{place} is not a list of JSON objects.")
    window.at += 1
    number = 0
    while (sign := window.next_sign()) not in ("]", ""):
        window.at += sign == ","
        if sign == ",":
            continue
        try:
            yield window.item()
        except _Malformed as error:
            yield Skipped(f"{place}[{number}]", str(error))
        except ValueError as error:
            yield Skipped(f"{place}[{number}]", f"The list ends in the middle: {error}")
            return
        number += 1
    if sign == "":
        yield Skipped(f"{place}[{number}]", "The list is torn off.")


class _Malformed(ValueError):
    """A value with a beginning and an end, and no JSON in between."""


class _Window:
    """The part of a long text that is being looked at."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.text, self.at, self.ended = "", 0, False

    def more(self) -> None:
        """At least doubles what is left, so that trying again costs no more than reading once."""
        rest = self.text[self.at :]
        raw = self._stream.read(max(CHUNK, len(rest)))
        self.ended = not raw
        self.text, self.at = rest + self._decoder.decode(raw, final=self.ended), 0

    def next_sign(self) -> str:
        """The next character that is not a space; empty at the end."""
        while True:
            while self.at < len(self.text):
                if not self.text[self.at].isspace():
                    return self.text[self.at]
                self.at += 1
            if self.ended:
                return ""
            self.more()

    def item(self) -> Json:
        """The value that begins here. Raises `_Malformed` when it could be passed by, and else `ValueError`."""
        while True:
            try:
                found, end = DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                reason = "it is nested too deeply." if isinstance(error, RecursionError) else str(error)
                if not self._goes_on(error) and (closed := self._closed()) is not None:
                    self.at = closed
                    raise _Malformed(reason) from None
                if self.ended or len(self.text) - self.at > LARGEST_FILE:
                    raise ValueError(reason) from None
            else:
                # A number at the end of the window may go on.
                if end < len(self.text) or self.ended:
                    self.at = end
                    return found
            self.more()

    def _goes_on(self, error: Exception) -> bool:
        """Whether all that is wrong is probably that the window ends here: looking for the end of a value is slow."""
        if self.ended or not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos > len(self.text) - LONGEST_SIGN

    def _closed(self) -> int | None:
        """Where the object or list that begins here is closed, whatever is in it; None when it is not, or not yet."""
        depth = 0
        for sign in _SIGNS.finditer(self.text, self.at):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign[0], 0)
            if depth <= 0:
                return sign.end() if sign[0] in "]}" and depth == 0 else None
        return None


def parse_json(raw: bytes | str) -> Json:
    """A JSON value. Raises `ValueError` for what is not JSON, NaN and absurd nesting and numbers included."""
    try:
        return DECODER.decode(decode_text(raw) if isinstance(raw, bytes) else raw)
    except RecursionError:
        raise ValueError("it is nested too deeply.") from None


def text_start(path: Path) -> str:
    """The first characters of a text file, without spaces before them; empty for anything else."""
    raw = head(path, LOOKED_AT)
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "ignore").lstrip()
    return "" if b"\0" in raw else decode_text(raw).lstrip()


def parse_json_or_none(text: Json) -> Json:
    """JSON inside a column or a line; None where there is none, and for what is not JSON."""
    try:
        return parse_json(text) if isinstance(text, (str, bytes)) else None
    except ValueError:
        return None


def decode_text(raw: bytes) -> str:
    """Text in UTF-8, with or without a mark; bytes that are not keep their place, so that nothing is lost."""
    return raw.decode("utf-8-sig", "surrogateescape")


def as_utf8(stream: IO[bytes]) -> IO[bytes]:
    """The same stream in UTF-8, for files that say at their beginning that they are in UTF-16."""
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


def _to_the_end_of_the_line(stream: IO[bytes]) -> None:
    while (rest := stream.readline(CHUNK)) and not rest.endswith(b"\n"):
        pass


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)
