"""A proxy between client and server that counts round trips and can cut the connection."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

WAITING = (b"S", b"H", b"Q")
"""Sync, Flush and Query: after these, or several of them at once, a client waits for an answer; after nothing else."""
COMMITTED = b"C\0\0\0\x0bCOMMIT\0"
WORKER_LOST = b"SERROR\0VERROR\0CXX000\0Mcould not commit transaction for shard 102040\0\0"
"""What the coordinator of a cluster answers when that of a worker is lost."""


class Proxy:
    """`url` leads through it. Nobody gets through while it is not `is_open`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "", parts.port or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        who, at, _ = parts.netloc.rpartition("@")
        self.url = parts._replace(netloc=f"{who}{at}127.0.0.1:{self._listener.getsockname()[1]}").geturl()
        self.waits = 0
        self.cuts = 0
        self._cut: Literal["before", "after"] | None = None
        self._fuse = self._every = 0
        self._when = "before"
        self._silent = False
        self.denies_commit = False
        """Whether the next commit that is done is answered with an error."""
        self.is_open = True
        self.closes_when_cut = False
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.is_open:
                    server = socket.create_connection(self._server)
                    for end in (client, server):
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        self._ends.append(end)
                    threading.Thread(target=self._listen, args=(client, server), daemon=True).start()
                    threading.Thread(target=self._answer, args=(client, server), daemon=True).start()
                else:
                    client.close()

    def _listen(self, client: socket.socket, server: socket.socket) -> None:
        before = b""
        with suppress(OSError):
            for kind, message in messages(client):
                waits = kind in WAITING and before not in WAITING
                self.waits += waits
                before = kind
                if (waits and self._burns_out()) or (b"COMMIT" in message and self._cuts("before")):
                    break
                server.sendall(message)
        hang_up(client, server)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if self._silent or (b"COMMIT\0" in data and self._cuts("after")):
                    break
                if self.denies_commit and COMMITTED in data:
                    self.denies_commit = False
                    self.cuts += 1
                    data = data.replace(COMMITTED, b"E" + struct.pack("!i", len(WORKER_LOST) + 4) + WORKER_LOST)
                client.sendall(data)
        self._silent = False
        hang_up(client, server)

    def cut(self, when: Literal["before", "after"]) -> None:
        """Cuts the line at the next commit: before the server hears of it, or after it has done it."""
        self._cut = when

    def cut_often(self, first: int, every: int, when: Literal["before", "after"]) -> None:
        """Cuts the line at the first of so many waits, and at every so many more: before it is heard, or after."""
        self._fuse, self._every, self._when = first, every, when

    def _burns_out(self) -> bool:
        """Whether the line is cut before the server hears more. It may also be cut when it has answered."""
        self._fuse -= 1
        if self._fuse != 0:
            return False
        self._fuse = self._every
        self.cuts += 1
        self._silent = self._when == "after"
        return not self._silent

    def hang_up(self) -> None:
        """Cuts every line there is; new ones may be opened."""
        while self._ends:
            hang_up(self._ends.pop())

    def _cuts(self, when: str) -> bool:
        now = self._cut == when
        self._cut = None if now else self._cut
        self.is_open = self.is_open and not (now and self.closes_when_cut)
        self.cuts += now
        return now


def hang_up(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


def messages(client: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    """The messages of a client: the kind (empty for the first ones) and the bytes."""
    started = False
    while head := client.recv(5 if started else 4, socket.MSG_WAITALL):
        (length,) = struct.unpack("!i", head[-4:])
        message = head + client.recv(length - 4, socket.MSG_WAITALL) if length > 4 else head
        # Asking for encryption is not the beginning yet: the server says no, and the client says who it is.
        first = b"" if not started else head[:1]
        started = started or message[4:8] not in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30")
        yield first, message
