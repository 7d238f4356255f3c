"""Workers: the events of a conversation one after another, conversations at the same time."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from bough.agent import Stop
from bough.channels.channel import log
from bough.channels.inbox import Received

Handle: TypeAlias = Callable[[Sequence[Received], Stop, bool], None]
"""Handles a batch. The flag says of `/stop` whether it has stopped something."""

ALBUM_SECONDS = 1.0
"""How long the other messages of an album are waited for."""
MOST_MERGED = 20
"""Messages that are answered together."""


class ConversationQueue:
    """The events of one conversation that are still to be handled, and the run that is under way."""

    def __init__(self) -> None:
        self.waiting: deque[Received] = deque()
        self.running: Stop | None = None
        self.stopped: set[int] = set()
        """Numbers of the `/stop`s that have stopped something."""

    def take(self) -> list[Received]:
        """The next batch: an event, with the plain messages of the same person that directly follow it.

        After a crash, what was being worked on together is answered together again.
        """
        batch = [self.waiting.popleft()]
        while self.waiting and len(batch) < MOST_MERGED and belongs(batch[0], self.waiting[0]):
            batch.append(self.waiting.popleft())
        return batch


def belongs(first: Received, following: Received) -> bool:
    """Whether a message is answered together with the one before it."""
    if first.state != following.state:
        return False
    if first.state == "working":
        return True
    if first.event.kind != "message" or following.event.kind != "message":
        return False
    return following.event.sender == first.event.sender and following.event.reply_to is None


class Workers:
    """One thread for each conversation that has something to do."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._lock = threading.Lock()
        self._queues: dict[str, ConversationQueue] = {}
        self._threads: set[threading.Thread] = set()
        self._is_closed = False

    def add(self, received: Sequence[Received]) -> None:
        """Let events be handled after the others of their conversations.

        All at once: what was being worked on together before a crash must be seen together.
        """
        with self._lock:
            if self._is_closed:
                return
            started: list[threading.Thread] = []
            for one in received:
                conversation = one.event.conversation
                if conversation not in self._queues:
                    queue = self._queues[conversation] = ConversationQueue()
                    work = partial(self._work, conversation, queue)
                    started.append(threading.Thread(target=work, name=conversation, daemon=True))
                self._queues[conversation].waiting.append(one)
            self._threads.update(started)
            for thread in started:
                thread.start()

    def stop(self, received: Received) -> list[Received]:
        """Stop what is being answered in the conversation, at once; the waiting messages, which are not answered."""
        with self._lock:
            queue = self._queues.get(received.event.conversation)
            if queue is None:
                return []
            dropped = [one for one in queue.waiting if one.event.kind in ("message", "edit")]
            for one in dropped:
                queue.waiting.remove(one)
            if queue.running is not None or dropped:
                queue.stopped.add(received.n)
            running = queue.running
        if running is not None:
            running.set()
        return dropped

    def close(self) -> None:
        """Interrupt what is being answered, and wait for the threads. What is waiting stays in the inbox."""
        with self._lock:
            self._is_closed = True
            threads = list(self._threads)
            runs = [queue.running for queue in self._queues.values() if queue.running is not None]
        for run in runs:
            run.set(by_user=False)
        for thread in threads:
            thread.join()

    def _work(self, conversation: str, queue: ConversationQueue) -> None:
        while True:
            if queue.waiting and queue.waiting[0].event.album is not None:
                time.sleep(ALBUM_SECONDS)
            with self._lock:
                if self._is_closed or not queue.waiting:
                    del self._queues[conversation]
                    self._threads.discard(threading.current_thread())
                    return
                batch = queue.take()
                queue.running = stop = Stop()
                follows = next((one for one in queue.waiting if one.event.command == "stop"), None)
                if follows is not None and batch[0].event.kind in ("message", "edit"):
                    queue.stopped.add(follows.n)  # it was sent before a crash, and stops what was cut off
                    stop.set()
            try:
                self._handle(batch, stop, batch[0].n in queue.stopped)
            except Exception:
                # It stays in the inbox as being worked on, and is taken up again at the next start.
                log.exception("An event of %s could not be handled.", conversation)
            with self._lock:
                queue.running = None
