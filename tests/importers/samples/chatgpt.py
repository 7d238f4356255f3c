"""An export of ChatGPT: zipped, unpacked, or a single file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from tests.importers.sample import Sample, chop, copied

CONVERSATION = "66000000-0000-8000-8000-00000000000"
EDGES = {
    "I have a garden.\n\nBe brief.": None,
    "How many seeds?": "I have a garden.\n\nBe brief.",
    "Where do they go?": "Four seeds.",
    "When do they go?": "Four seeds.",
    "Into the soil.": "Where do they go?",
    "Into the compost.": "Where do they go?",
    "Lost?": None,
    "Round.": "Round and round?",
    "Again?": "Round.",
}
SKIPPED = ("conversations-000.json[1]", "conversations-001.json[0].mapping.bad")


def zipped(place: Path) -> Path:
    folder = copied("chatgpt/export")(place)
    with zipfile.ZipFile(place / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder).as_posix())
    return place / "export.zip"


def one_file(place: Path) -> Path:
    """A single conversations.json, as in older exports."""
    folder = copied("chatgpt/export")(place)
    every = [one for name in ("000", "001") for one in json.loads((folder / f"conversations-{name}.json").read_text())]
    (place / "conversations.json").write_text(json.dumps(every, indent=2))
    return place / "conversations.json"


def go_on(path: Path) -> None:
    """The export of a later day: the first conversation was continued on the other branch."""
    file = path / "conversations-000.json"
    told = json.loads(file.read_text())
    parent = "aaa00000-0000-4000-8000-000000000010"
    new = "aaa00000-0000-4000-8000-000000000099"
    message = {"id": new, "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["How deep?"]}}
    told[0]["mapping"][new] = {"id": new, "parent": parent, "children": [], "message": message}
    told[0]["current_node"] = new
    file.write_text(json.dumps(told))


SAMPLES = [
    Sample(
        "chatgpt",
        "a directory of shards",
        copied("chatgpt/export"),
        conversations=3,
        messages=22,
        skipped=SKIPPED,
        edges=EDGES,
        sessions={f"chatgpt:{CONVERSATION}1": "In spring.", f"chatgpt:{CONVERSATION}3": "Hello."},
        grow=go_on,
        grown=1,
        tear=lambda path: chop(path / "conversations-001.json", 300),
    ),
    Sample("chatgpt", "a zip", zipped, conversations=3, messages=22, skipped=SKIPPED, edges=EDGES),
    Sample(
        "chatgpt",
        "the conversations alone",
        one_file,
        conversations=3,
        messages=22,
        skipped=("conversations.json[1]", "conversations.json[2].mapping.bad"),
        edges=EDGES,
        tear=chop,
    ),
]
