"""The golden files: payloads written by hand from the documented shapes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bough.model import Json

GOLDEN = Path(__file__).parent / "golden"


def golden(kind: str) -> list[object]:
    """One test parameter `(format, payload)` per file of this kind: request, reply or stream."""
    files = sorted(GOLDEN.rglob(f"{kind}-*.json"))
    return [pytest.param(file.parent.name, load(file), id=f"{file.parent.name}-{file.stem}") for file in files]


def load(file: Path) -> Json:
    return json.loads(file.read_text("utf-8"))


def one(format_name: str, stem: str) -> Json:
    return load(GOLDEN / format_name / f"{stem}.json")


def sent(format_name: str, payload: Json) -> Json:
    """The part of a golden request that `encode` gives: the list, or Q Developer's state."""
    return payload["input"] if format_name == "openai.responses" and isinstance(payload, dict) else payload
