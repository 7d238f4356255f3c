"""Keys of sessions, parsed and built: `cli:default`, `discord:dm:42`, `telegram:7:delegate:sysinfo`."""

from __future__ import annotations

from typing import Literal

from bough.errors import Invalid
from bough.model.ids import is_plain
from bough.model.values import value

LONGEST_KEY = 512
DELEGATE = ":delegate:"


@value
class Key:
    """What the key of a session says."""

    channel: str | None
    channel_id: str | None
    parent: str | None = None
    agent: str | None = None


def parse_key(key: str) -> Key:
    """Reads a session's key: `cli:default`, `discord:dm:42`, `telegram:7:delegate:sysinfo`, or any other text."""
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
    """The key of a session on the command line."""
    return f"cli:{name}"


def discord_key(place: Literal["dm", "channel", "thread"], id: int | str) -> str:
    """The key of a direct message (by user), a channel or a thread."""
    if place not in ("dm", "channel", "thread"):
        raise Invalid(f"A Discord session is a dm, a channel or a thread, not {place!r}.")
    return f"discord:{place}:{id}"


def telegram_key(chat: int | str) -> str:
    """The key of a Telegram chat."""
    return f"telegram:{chat}"


def delegate_key(parent: str, agent: str) -> str:
    """The key of the session in which an agent works for another session."""
    return f"{parent}{DELEGATE}{agent}"


def subagent_label(agent: str, run_id: str) -> str:
    """The label of every node that a subagent's run adds."""
    return f"subagent:{agent}:{run_id}"
