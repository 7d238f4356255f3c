"""`bough bot` that kills itself at one step between receiving a question and the last edit of its answer.

`FATAL_STEP` is a step of `STEPS` with `before` or `after` it, `FATAL_COUNT` says how many times it is survived.
`WITHOUT` is `inbox` or `outbox`: what is to be remembered there is not.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any

from bough.__main__ import main
from bough.channels.answering import Answering
from bough.channels.delivery import Delivery
from bough.channels.discord import client
from bough.channels.discord.service import Discord
from bough.channels.inbox import Inbox
from bough.channels.outbox import Outbox
from bough.channels.receiver import Receiver
from bough.channels.telegram.service import Telegram

STEPS: dict[str, list[tuple[type, str]]] = {
    "accept": [(Receiver, "accept")],
    "store": [(Inbox, "put")],
    "begin": [(Inbox, "take")],
    "send": [(Telegram, "send"), (Discord, "send")],
    "remember": [(Outbox, "put")],
    "open": [(Answering, "_began")],
    "edit": [(Telegram, "edit"), (Discord, "edit")],
    "show": [(Delivery, "finish")],
    "finish": [(Inbox, "finish")],
}
"""Methods, in the order in which an event passes them."""


def fatal(method: Callable[..., Any], when: str, survived: int) -> Callable[..., Any]:
    """A method whose call ends the process, after some that do not."""
    calls = count()

    @wraps(method)
    def call(*args: Any, **named: Any) -> Any:
        is_last = next(calls) >= survived
        if is_last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = method(*args, **named)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


def forget(owner: type, name: str) -> None:
    """Let a method find nothing."""
    setattr(owner, name, lambda *_: [])


def prepare() -> None:
    """Change the classes of this process as the environment says."""
    client.READY_SECONDS = 0.1
    step, _, when = os.environ.get("FATAL_STEP", "").partition(" ")
    for owner, name in STEPS.get(step, ()):
        setattr(owner, name, fatal(getattr(owner, name), when, int(os.environ["FATAL_COUNT"])))
    match os.environ.get("WITHOUT"):
        case "inbox":
            forget(Inbox, "open")
        case "outbox":
            forget(Outbox, "parts")


if __name__ == "__main__":
    prepare()
    sys.exit(main())
