"""A limit for a line of an MCP server over stdio, which applies while the line is read.

The SDK collects a line in memory until it ends. It decodes with the encoding that it is given: this one is UTF-8, and
counts the bytes since the last newline.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from contextvars import ContextVar

ENCODING = "bough_lines"
LONGEST_LINE = 256 * 1024 * 1024
"""Bytes. The largest result has 64 million characters, of up to four bytes."""

on_excess: ContextVar[Callable[[str], None]] = ContextVar("on_excess")
"""Called with the reason when a line of a server that this context has started is too long."""


class LimitedDecoder(codecs.IncrementalDecoder):
    """UTF-8 up to a line that is too long; the rest of that is dropped."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors)
        self._line = 0
        self._on_excess = on_excess.get()

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]
        ended = data.rfind(b"\n")
        self._line = self._line + len(data) if ended < 0 else len(data) - ended - 1
        if self._line <= LONGEST_LINE:
            return self._utf8.decode(data, final)
        self._on_excess(f"sent a line of more than {LONGEST_LINE:,} bytes")
        return ""


def find(name: str) -> codecs.CodecInfo | None:
    if name != ENCODING:
        return None
    return codecs.CodecInfo(codecs.utf_8_encode, codecs.utf_8_decode, incrementaldecoder=LimitedDecoder, name=ENCODING)


codecs.register(find)
