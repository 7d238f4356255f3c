"""Interface of a chat service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from bough.errors import ChannelError

if TYPE_CHECKING:
    from bough.agent import Stop
    from bough.channels.events import Attachment
    from bough.channels.receiver import Receiver

T = TypeVar("T")

LONGEST_PAUSE = 60.0
"""Seconds between two attempts."""
Menu: TypeAlias = Sequence[tuple[str, str]]
"""Buttons: a label, and the command that pressing it gives."""


class ChatService(Protocol):
    """A chat service. Its methods are called by several threads, and raise `ChannelError`. Texts are Markdown."""

    name: str
    """`telegram`, `discord`, …: the channel of its sessions."""
    text_limit: int
    """Longest text of a message, as `measure` counts."""
    edit_seconds: float
    """Shortest time between two edits of one message that the service accepts for long."""

    def measure(self, text: str) -> int:
        """The length of a text as the service counts it."""

    def receive(self, receiver: Receiver, stop: Stop) -> None:
        """Deliver events until the signal is set. Connection errors are retried; one of the token is raised."""

    def send(
        self, chat: str, text: str, *, nonce: str, reply_to: str | None = None, menu: Menu = ()
    ) -> str:  # fmt: skip
        """Send a message; its id. A service that can recognises a repetition by its nonce."""

    def edit(self, chat: str, message: str, text: str, *, menu: Menu = ()) -> None:
        """Change the text of a message. Giving it the text that it has is not an error."""

    def delete(self, chat: str, message: str) -> None:
        """Delete a message. One that is not there is not an error."""

    def typing(self, chat: str) -> None:
        """Show for some seconds that an answer is being written."""

    def download(self, attachment: Attachment) -> bytes:
        """The content of a file that came with a message."""

    def upload(self, chat: str, name: str, content: bytes, *, nonce: str) -> str:
        """Send a file; the id of its message."""

    def announce(self, commands: Sequence[tuple[str, str]]) -> None:
        """Register the commands, with their descriptions, so that people can choose them."""

    def close(self) -> None:
        """Release the connections."""


def run_until(work: Callable[[], None], stop: Stop) -> None:
    """Run work in a thread until it ends, or until the stop: a long poll is not waited for. Raises its error."""
    ended = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)
        ended.set()

    threading.Thread(target=run, name="receive", daemon=True).start()
    stop.add_callback(ended.set)
    ended.wait()
    if failed and not stop.is_set:
        raise failed[0]


def persist(call: Callable[[], T], stop: Stop) -> T:
    """Repeat a call until the service accepts it. Raises `ChannelError` for one that it never will, or at a stop."""
    pause = 1.0
    while True:
        try:
            return call()
        except ChannelError as error:
            if error.kind not in ("rate_limit", "unreachable") or stop.is_set:
                raise
            wait = error.retry_after if error.retry_after is not None else pause
            pause = min(2 * pause, LONGEST_PAUSE)
            if stop.wait(wait):
                raise
