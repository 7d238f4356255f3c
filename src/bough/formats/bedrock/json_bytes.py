"""Python bytes inside JSON, as `{"$bytes": base64}`."""

from __future__ import annotations

from bough.formats.media import from_base64, to_base64
from bough.model import Json

BYTES = "$bytes"


def wrap_bytes(value: Json) -> Json:
    """Replace every bytes object in a value by `{"$bytes": base64}`."""
    if isinstance(value, (bytes, bytearray)):
        return {BYTES: to_base64(bytes(value))}
    if isinstance(value, dict):
        return {key: wrap_bytes(item) for key, item in value.items()}
    return [wrap_bytes(item) for item in value] if isinstance(value, list) else value


def unwrap_bytes(value: Json) -> Json:
    """Inverse of `wrap_bytes`."""
    if isinstance(value, dict):
        data = wrapped_bytes(value)
        return {key: unwrap_bytes(item) for key, item in value.items()} if data is None else data
    return [unwrap_bytes(item) for item in value] if isinstance(value, list) else value


def wrapped_bytes(value: Json) -> bytes | None:
    """The bytes of `{"$bytes": base64}`, or None for anything else."""
    return from_base64(value[BYTES]) if isinstance(value, dict) and value.keys() == {BYTES} else None
