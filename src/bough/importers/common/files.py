"""Safe reading of a file, a directory or a zip: nothing is unpacked to disk, links are not followed, bombs refused."""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

from bough.errors import ImporterError

MOST_FILES = 1_000_000
"""More than any export has; the names are in memory."""
MOST_BYTES = 64 * 2**30
"""Total size of a zip's files."""
SUSPICIOUS_BYTES = 256 * 2**20
HIGHEST_RATIO = 200
"""Text compresses 10:1 and logs 50:1; a large file with a higher ratio is a zip bomb."""


_COUNTER: ContextVar[Callable[[int], None] | None] = ContextVar("counter", default=None)


@contextmanager
def count_bytes(count: Callable[[int], None]) -> Iterator[None]:
    """Calls `count` with the number of bytes of each read, for a progress bar."""
    before = _COUNTER.set(count)
    try:
        yield
    finally:
        _COUNTER.reset(before)


_EXCLUDED: ContextVar[Collection[str]] = ContextVar("excluded", default=frozenset())


@contextmanager
def without_files(excluded: Collection[str]) -> Iterator[None]:
    """Leaves files out of directories: those that other importers read."""
    before = _EXCLUDED.set(excluded)
    try:
        yield
    finally:
        _EXCLUDED.reset(before)


class Files(Protocol):
    """Files by name, with `/` as the separator; a single file has one name."""

    names: tuple[str, ...]

    def size(self, name: str) -> int:
        """Size in bytes, uncompressed."""

    def open(self, name: str) -> IO[bytes]:
        """A stream of the file, to be used with `with`. Errors while reading are translated by `open_files`."""


@contextmanager
def open_files(path: Path) -> Iterator[Files]:
    """The files of a directory or of a zip, or the one file at a path. Raises `ImporterError`."""
    with translated(path):
        if path.is_dir():
            yield Folder(path)
        elif is_zip(path):
            with zipfile.ZipFile(path) as archive:
                yield Zip(path, archive)
        else:
            yield Single(path)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns errors of reading into `ImporterError`."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ImporterError(f"{str(path)!r} is damaged or not a zip: {error}.") from None
    except OSError as error:
        raise ImporterError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None


def is_zip(path: Path) -> bool:
    """Whether a file begins like a zip, regardless of its name."""
    return file_start(path, 4) in (b"PK\x03\x04", b"PK\x05\x06")


def file_start(path: Path, size: int = 65_536) -> bytes:
    """The first bytes of a regular file; empty for anything else."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(size)
    except OSError:  # only recognition fails; opening the file reports the error
        return b""


class Single:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.names: tuple[str, ...] = (path.name,)
        if not path.is_file():
            raise ImporterError(f"{str(path)!r} is neither a file nor a directory.")

    def size(self, name: str) -> int:  # noqa: ARG002
        return self._path.stat().st_size

    def open(self, name: str) -> IO[bytes]:  # noqa: ARG002
        return _counted(self._path.open("rb"))


class Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.names = tuple(sorted(self._walk()))

    def size(self, name: str) -> int:
        return (self._path / name).stat(follow_symlinks=False).st_size

    def open(self, name: str) -> IO[bytes]:
        handle = os.open(self._path / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        return _counted(os.fdopen(handle, "rb"))

    def _walk(self) -> Iterator[str]:
        """Regular files only: a link may lead outside, and a pipe never ends."""
        found, excluded = 0, _EXCLUDED.get()
        for directory, _, files in os.walk(self._path, followlinks=False):
            for file in files:
                path = Path(directory, file)
                if str(path) not in excluded and stat.S_ISREG(path.lstat().st_mode):
                    found += 1
                    if found > MOST_FILES:
                        raise ImporterError(f"{str(self._path)!r} has more than {MOST_FILES} files; name a part of it.")
                    yield path.relative_to(self._path).as_posix()


class Zip:
    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        members = [info for info in archive.infolist() if not info.is_dir() and not _is_link(info)]
        _check(path, members)
        self.names = tuple(sorted({info.filename for info in members}))

    def size(self, name: str) -> int:
        return self._archive.getinfo(name).file_size

    def open(self, name: str) -> IO[bytes]:
        return _counted(self._archive.open(name))


class _Counted(io.RawIOBase):
    def __init__(self, stream: IO[bytes], count: Callable[[int], None]) -> None:
        self._stream, self._count = stream, count

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._count(len(data))
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _counted(stream: IO[bytes]) -> IO[bytes]:
    count = _COUNTER.get()
    return stream if count is None else io.BufferedReader(_Counted(stream, count), 2**18)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _check(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Raises `ImporterError` for a malicious archive."""
    name = repr(str(path))
    if len(members) > MOST_FILES:
        raise ImporterError(f"{name} has more than {MOST_FILES} files; nothing was imported.")
    if sum(info.file_size for info in members) > MOST_BYTES:
        raise ImporterError(f"{name} would unpack to more than {MOST_BYTES // 2**30} GB; nothing was imported.")
    for info in members:
        parts = PurePosixPath(info.filename.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            raise ImporterError(f"{name} names a file outside itself ({info.filename!r}); nothing was imported.")
        if info.flag_bits & 1:
            raise ImporterError(f"{name} is encrypted; unpack it and import the directory.")
    _check_ratio(name, members)


def _check_ratio(name: str, members: list[zipfile.ZipInfo]) -> None:
    large = [info for info in members if info.file_size > SUSPICIOUS_BYTES]
    total, packed = sum(info.file_size for info in members), sum(info.compress_size for info in members)
    if any(info.file_size > HIGHEST_RATIO * max(info.compress_size, 1) for info in large) or (
        total > SUSPICIOUS_BYTES and total > HIGHEST_RATIO * max(packed, 1)
    ):
        raise ImporterError(f"{name} unpacks to {total // 2**20} MB, suspiciously much; nothing was imported.")
