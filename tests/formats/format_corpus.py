"""The golden files: payloads written by hand from the documented shapes."""

from __future__ import annotations

import json
from pathlib import Path

from bough.model import Json

GOLDEN = Path(__file__).parent / "golden"


def golden(kind: str, *names: str) -> list[tuple[str, Json]]:
    """The format and the payload of every file of this kind: request, reply or stream; of these formats, or of all."""
    files = sorted(GOLDEN.rglob(f"{kind}-*.json"))
    return [(file.parent.name, load(file)) for file in files if not names or file.parent.name in names]


def load(file: Path) -> Json:
    return json.loads(file.read_text("utf-8"))


def one(format_name: str, stem: str) -> Json:
    return load(GOLDEN / format_name / f"{stem}.json")


def sent(format_name: str, payload: Json) -> Json:
    """The part of a golden request that `encode` gives: the list, or Q Developer's state."""
    return payload["input"] if format_name == "openai.responses" and isinstance(payload, dict) else payload
