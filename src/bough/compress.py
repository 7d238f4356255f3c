"""zstd, loaded at first use, with reused contexts.

Creating a context costs more than decompressing a short text. The zstd of the standard library creates one for every
call and is therefore not used (docs/decisions/0002).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from io import BufferedReader, RawIOBase
from typing import IO, Any

TABLES = {"window_log": 14, "hash_log": 11, "chain_log": 10, "search_log": 1, "min_match": 4}
"""Level 3, with tables of a few KB. With a cold processor cache, as after waiting for a disk or a model, this takes
three quarters of the time of the default tables, for output that is 0.5 % larger."""
LONG_LEVEL = 5
"""For blobs, which are written once and read seldom: 5 % smaller, for half a millisecond per 100 KB."""
SAMPLE = 16_384
"""Bytes at the beginning of long data that are compressed first, to detect incompressible data."""
WORTHWHILE_RATIO = 0.9
"""Data is stored compressed only if it shrinks below this: reading it costs time."""

_contexts = threading.local()


def _module() -> Any:
    import zstandard

    return zstandard


def compress(data: bytes) -> bytes:
    try:
        context = _contexts.compressor
    except AttributeError:
        zstd = _module()
        small = zstd.ZstdCompressionParameters(strategy=zstd.STRATEGY_DFAST, **TABLES)
        context = _contexts.compressor = zstd.ZstdCompressor(compression_params=small)
    return context.compress(data)  # type: ignore[no-any-return]


def decompress(data: bytes) -> bytes:
    """Raises `ValueError` for damaged data."""
    try:
        context = _contexts.decompressor
    except AttributeError:
        context = _contexts.decompressor = _module().ZstdDecompressor()
    try:
        return context.decompress(data)  # type: ignore[no-any-return]
    except _module().ZstdError as error:
        raise ValueError(str(error)) from None


def compress_if_it_pays(data: bytes) -> bytes | None:
    """The compressed form, or None if it is not smaller. Incompressible data is detected from a 16 KB sample."""
    if len(data) > 2 * SAMPLE and len(compress(data[:SAMPLE])) > WORTHWHILE_RATIO * SAMPLE:
        return None
    smaller: bytes = _module().ZstdCompressor(level=LONG_LEVEL).compress(data)
    return smaller if len(smaller) < WORTHWHILE_RATIO * len(data) else None


def decompress_chunks(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The content of a compressed stream, in pieces of at most `size` bytes. Raises `ValueError` for damaged data."""
    reader = _module().ZstdDecompressor().stream_reader(_Source(chunks))
    try:
        while piece := reader.read(size):
            yield piece
    except _module().ZstdError as error:
        raise ValueError(str(error)) from None


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """A file-like reader of a compressed file. Reading raises `ValueError` for damaged data."""
    return BufferedReader(_Reader(_module().ZstdDecompressor().stream_reader(stream, read_across_frames=True)))


class _Reader(RawIOBase):
    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self._reader.readinto(buffer)  # type: ignore[no-any-return]
        except _module().ZstdError as error:
            raise ValueError(str(error)) from None

    def close(self) -> None:
        self._reader.close()
        super().close()


class _Source:
    """A file-like reader over chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def read(self, _: int) -> bytes:
        return next(self._chunks, b"")
