"""Who calls a subagent in another process: told in the call's `_meta`, or in the environment of the process.

It is told only to servers that say they are bough: the key of a session is nobody else's business.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bough.model import Json
from bough.model.values import value

if TYPE_CHECKING:
    from bough.agent.tools import Call

SERVER_NAME = "bough"
"""What our servers call themselves."""
NAMES = ("session", "message", "call")


@value
class Caller:
    """A session, the message in it that makes the call, and the id of the call; as far as they are known."""

    session: str | None = None
    message: str | None = None
    call: str | None = None


def encode_caller(call: Call) -> dict[str, str]:
    """What a call tells about itself."""
    told = (call.session.key, call.message, call.call_id)
    return {f"{SERVER_NAME}/{name}": text for name, text in zip(NAMES, told, strict=True)}


def decode_caller(meta: Mapping[str, Json] | None, environ: Mapping[str, str] = os.environ) -> Caller:
    """Who calls: what `_meta` says of it, else `BOUGH_SESSION`, `BOUGH_MESSAGE` and `BOUGH_CALL`."""
    told = [(meta or {}).get(f"{SERVER_NAME}/{name}") for name in NAMES]
    if not any(told):
        told = [environ.get(f"BOUGH_{name.upper()}") for name in NAMES]
    return Caller(*(text if isinstance(text, str) and text else None for text in told))
