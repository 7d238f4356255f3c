"""Files of `bough export`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import bough
from bough import assistant, tool_call, tool_result, user
from bough.exporters import jsonl
from bough.importers import get
from bough.model.imported import Archive
from tests.importers.sample import Sample, chop


@cache
def lines() -> str:
    """The lines, generated once because ids are random."""
    with bough.connect(":memory:") as store:
        session = store.session("cli:garden", title="Garden")
        session.save_turn([user("what grows"), assistant(tool_call("c1", "look")), tool_result("c1", "an oak"),
                           assistant("An oak.")], model="m")  # fmt: skip
        store.fork(session.path()[0].id, "cli:retry").save_turn([assistant("An elm.")])
        return "".join(jsonl.everything(store))


def make(directory: Path) -> Path:
    path = directory / "all.jsonl"
    path.write_text(lines())
    return path


def grow(path: Path) -> None:
    with bough.connect(":memory:") as store:
        for told in get("bough").read(path):
            assert isinstance(told, Archive)
            store.bring_in(told)
        store.session("cli:garden").save_turn([user("how old"), assistant("Very.")])
        path.write_text("".join(jsonl.everything(store)))


def with_nonsense(directory: Path) -> Path:
    path = make(directory)
    path.write_text(path.read_text().replace("\n", '\n{"id": "x", "role": "tree", "blocks": [], "time": 1}\n', 1))
    return path


EDGES = {"An oak.": "", "An elm.": "what grows"}
SESSIONS = {"cli:garden": "An oak.", "cli:retry": "An elm."}

SAMPLES = [
    Sample("bough", "a store with a fork", make, 2, 5, edges=EDGES, sessions=SESSIONS, grow=grow, grown=2, tear=chop),
    Sample("bough", "a line that makes no sense", with_nonsense, 2, 5, skipped=("all.jsonl:2",), edges=EDGES),
]
