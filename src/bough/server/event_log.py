"""What a thread sends to any number of clients: each reads it from any place, while it grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from threading import Lock


class EventLog:
    """Frames in their order. A thread appends; coroutines follow."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self._closed = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = Lock()

    def append(self, frame: bytes) -> None:
        """Add a frame."""
        self.frames.append(frame)
        self._wake()

    def close(self) -> None:
        """There will be no more frames."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    async def follow(self, start: int = 0) -> AsyncIterator[bytes]:
        """The frames from a place on, until the log is closed. What has come meanwhile is one piece."""
        while True:
            event = asyncio.Event()
            with self._lock:
                self._waiting.append((asyncio.get_running_loop(), event))
            closed, end = self._closed, len(self.frames)
            if end > start:
                yield b"".join(self.frames[start:end])
                start = end
            elif closed:
                return
            else:
                await event.wait()
