"""The caller of a subagent in another process, in the call's `_meta` or in the environment of the process.

It is sent only to servers that identify as bough, because session keys are private.
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
"""Name by which bough's servers identify."""
NAMES = ("session", "message", "call")


@value
class Caller:
    """The calling session, the message with the call, and the id of the call, as far as known."""

    session: str | None = None
    message: str | None = None
    call: str | None = None


def encode_caller(call: Call) -> dict[str, str]:
    """Encode the caller as `_meta` of a call."""
    values = (call.session.key, call.message, call.call_id)
    return {f"{SERVER_NAME}/{name}": text for name, text in zip(NAMES, values, strict=True)}


def decode_caller(meta: Mapping[str, Json] | None, environ: Mapping[str, str] = os.environ) -> Caller:
    """Decode the caller from `_meta`, else from `BOUGH_SESSION`, `BOUGH_MESSAGE` and `BOUGH_CALL`."""
    values = [(meta or {}).get(f"{SERVER_NAME}/{name}") for name in NAMES]
    if not any(values):
        values = [environ.get(f"BOUGH_{name.upper()}") for name in NAMES]
    return Caller(*(text if isinstance(text, str) and text else None for text in values))
