"""Parse and build session keys: `cli:default`, `discord:dm:42`, `telegram:7:delegate:sysinfo`."""

from __future__ import annotations

from typing import Literal

from bough.errors import Invalid
from bough.model.ids import is_plain
from bough.model.values import value

LONGEST_KEY = 512
DELEGATE = ":delegate:"


@value
class Key:
    """The parts of a session key."""

    channel: str | None
    channel_id: str | None
    parent: str | None = None
    agent: str | None = None


def parse_key(key: str) -> Key:
    """Parse a session key. A text in no known form is valid, and has no parts. Raises `Invalid`."""
    if not isinstance(key, str) or not key or len(key) > LONGEST_KEY or not is_plain(key):
        raise Invalid(f"A session's key is a text of 1 to {LONGEST_KEY} characters without NUL, not {key!r:.80}.")
    parent, delegate, agent = key.rpartition(DELEGATE)
    outermost = key.partition(DELEGATE)[0]
    channel, colon, channel_id = outermost.partition(":")
    return Key(
        channel if colon else None,
        channel_id if colon else None,
        parent if delegate else None,
        agent if delegate else None,
    )


def cli_key(name: str = "default") -> str:
    """The key of a command line session."""
    return f"cli:{name}"


def discord_key(place: Literal["dm", "channel", "thread"], id: int | str) -> str:
    """The key of a Discord direct message (by user id), channel or thread. Raises `Invalid` for another kind."""
    if place not in ("dm", "channel", "thread"):
        raise Invalid(f"A Discord session is a dm, a channel or a thread, not {place!r}.")
    return f"discord:{place}:{id}"


def telegram_key(chat: int | str) -> str:
    """The key of a Telegram chat."""
    return f"telegram:{chat}"


def delegate_key(parent: str, agent: str) -> str:
    """The key of the session of an agent that another session delegates to."""
    return f"{parent}{DELEGATE}{agent}"


def subagent_label(agent: str, run_id: str) -> str:
    """The label of the messages of one subagent run."""
    return f"subagent:{agent}:{run_id}"
