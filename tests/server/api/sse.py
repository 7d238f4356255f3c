"""Reads server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx2


class Sent(NamedTuple):
    """One event."""

    id: str | None
    event: str
    data: dict[str, Any]


def read(lines: Iterator[str]) -> Iterator[Sent]:
    """The events of a stream, without comments."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, text = line.partition(": ")
        if line and name:
            fields[name] = text
        elif not line:
            if "data" in fields:
                yield Sent(fields.get("id"), fields["event"], json.loads(fields["data"]))
            fields = {}


@contextmanager
def following(client: httpx2.Client, path: str = "/api/v1/events", **given: Any) -> Iterator[Iterator[Sent]]:
    """The events of a stream, which is closed at the end."""
    with client.stream("GET", path, **given) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield read(answer.iter_lines())


def until(events: Iterator[Sent], topic: str) -> list[Sent]:
    """The events up to the first one with this topic."""
    found = []
    for event in events:
        found.append(event)
        if event.event == topic:
            break
    return found
