"""Bytes inside JSON, and out of it again."""

from __future__ import annotations

from bough.formats.media import from_base64, to_base64
from bough.model import Json

BYTES = "$bytes"


def hold(value: Json) -> Json:
    """The value with every bytes object written as `{"$bytes": base64}`."""
    if isinstance(value, (bytes, bytearray)):
        return {BYTES: to_base64(bytes(value))}
    if isinstance(value, dict):
        return {key: hold(item) for key, item in value.items()}
    return [hold(item) for item in value] if isinstance(value, list) else value


def release(value: Json) -> Json:
    """What `hold` was given."""
    if isinstance(value, dict):
        data = held(value)
        return {key: release(item) for key, item in value.items()} if data is None else data
    return [release(item) for item in value] if isinstance(value, list) else value


def held(value: Json) -> bytes | None:
    """The bytes of `{"$bytes": base64}`, or None for anything else."""
    return from_base64(value[BYTES]) if isinstance(value, dict) and value.keys() == {BYTES} else None
