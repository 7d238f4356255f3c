"""Files as a power cut leaves them, from a record of the system calls of several processes (recorder.c)."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HEAD = struct.Struct("<ciQqI")
SECTOR = 512
SOURCE = Path(__file__).with_name("recorder.c")
UNRECORDED = ("-shm",)
"""Ends of names of files that are written through memory. SQLite makes a new index of the log after a power cut."""


@dataclass(frozen=True, slots=True)
class Call:
    verb: str
    """o(pened), w(ritten), t(runcated), s(ync begins), e(nds), f(ails), u(nlinked), r(enamed)"""
    thread: int
    inode: int
    offset: int
    data: bytes

    @property
    def name(self) -> str:
        return self.data.decode()


def compiled(directory: Path) -> Path:
    """The recorder as a shared library. Skips the test where no compiler is."""
    compiler = shutil.which("cc") or pytest.skip("not tested: system calls are recorded by a library that cc compiles")
    library = directory / "recorder.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl", "-lpthread"], check=True)
    return library


def environment(library: Path, directory: Path, record: Path) -> dict[str, str]:
    """What a process needs in its environment to be recorded."""
    return os.environ | {
        "LD_PRELOAD": str(library),
        "RECORD_DIRECTORY": str(directory),
        "RECORD_FILE": str(record),
    }


def calls_in(record: Path) -> Iterator[Call]:
    content, at = record.read_bytes(), 0
    while at < len(content):
        verb, thread, inode, offset, length = HEAD.unpack_from(content, at)
        at += HEAD.size
        yield Call(verb.decode(), thread, inode, offset, content[at : at + length])
        at += length


@dataclass
class Contents:
    """A file that is being put together."""

    content: bytearray = field(default_factory=bytearray)

    def write(self, offset: int, data: bytes) -> None:
        if len(self.content) < offset:
            self.content.extend(bytes(offset - len(self.content)))
        self.content[offset : offset + len(data)] = data

    def truncate(self, size: int) -> None:
        del self.content[size:]
        self.content.extend(bytes(size - len(self.content)))


class Recording:
    """The calls of all processes in their order, and what a disk may hold after each of them."""

    def __init__(self, record: Path) -> None:
        self.ops = list(calls_in(record))

    def image(self, cut: int, rng: random.Random) -> Mapping[str, bytes]:
        """The files after a power cut just before call number `cut`.

        Of a file there is everything that was written before a sync began that has ended, and any sectors of the rest.
        Names are made and removed in their order, as a journal does it: a sync of a file or of the directory carries
        all that happened to names before the file was made, and before the directory was synced.
        """
        synced, names_synced = self._durable(cut)
        return self._files(cut, synced, rng.randint(names_synced, cut), rng)

    def _files(self, cut: int, synced: Mapping[int, int], names_kept: int, rng: random.Random) -> Mapping[str, bytes]:
        files: dict[int, Contents] = {}
        names: dict[str, int] = {}
        for at, call in enumerate(self.ops[:cut]):
            if call.verb == "o" and call.offset and at <= names_kept:
                names[call.name] = call.inode
                files[call.inode] = Contents()  # the number may be that of a file that was deleted
            elif call.verb == "u" and at <= names_kept:
                names.pop(call.name, None)
            elif call.verb == "r" and at <= names_kept:
                old, new = call.name.split("\0")
                if old in names:
                    names[new] = names.pop(old)
            elif call.verb in "wt":
                _apply(files.setdefault(call.inode, Contents()), call, at < synced.get(call.inode, 0), rng)
        return {name: bytes(files[inode].content) for name, inode in names.items() if not name.endswith(UNRECORDED)}

    def files(self) -> Mapping[str, bytes]:
        """The files as the processes see them at the end."""
        end = len(self.ops)
        return self._files(end, {call.inode: end for call in self.ops}, end, random.Random())

    def _durable(self, cut: int) -> tuple[dict[int, int], int]:
        """Before which call each file is durable, and before which one the names are."""
        begun: dict[int, int] = {}
        synced: dict[int, int] = {}
        made: dict[int, int] = {}
        directory, names = 0, 0
        for at, call in enumerate(self.ops[:cut]):
            if call.verb == "o":
                if call.offset:
                    made[call.inode] = at
                    synced.pop(call.inode, None)
                elif not call.data:
                    directory = call.inode
            elif call.verb == "s":
                begun[call.thread] = at
            elif call.verb == "e":
                since = begun.pop(call.thread)
                synced[call.inode] = max(since, synced.get(call.inode, 0))
                names = max(names, since if call.inode == directory else made.get(call.inode, 0))
        return synced, names


def _apply(file: Contents, call: Call, durable: bool, rng: random.Random) -> None:
    if call.verb == "t":
        if durable or rng.random() < 0.5:
            file.truncate(call.offset)
        return
    kept = 1.0 if durable else rng.choice((0.0, 0.5, 1.0))
    if kept == 1.0:
        file.write(call.offset, call.data)
        return
    for start in range(0, len(call.data), SECTOR):
        if rng.random() < kept:
            file.write(call.offset + start, call.data[start : start + SECTOR])
