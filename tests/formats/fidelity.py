"""Computes the fidelity table of docs/formats.md; run it to write the table anew."""

from __future__ import annotations

import re
from pathlib import Path

from bough import formats
from bough.model import Block, Media, Message, Other, Text, Thinking, ToolResult, assistant, system, tool_call, user

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
TABLE = re.compile(r"(?<=<!-- fidelity -->\n).*?(?=<!-- /fidelity -->)", re.DOTALL)
WIRE = [name for name in formats.names() if name != "bough.jsonl"]
PNG = Media("image", "image/png", data=b"png")


def with_result(*content: Text | Media | Other, error: bool = False) -> tuple[Message, ...]:
    result = ToolResult("c", content or (Text("ok"),), error)
    return (user("hi"), assistant(tool_call("c", "look")), Message("tool_result", (result,), error), assistant("so"))


def said(*blocks: Block) -> tuple[Message, ...]:
    return (user("hi"), Message("assistant", blocks))


CASES: dict[str, tuple[Message, ...]] = {
    "text": said(Text("hello")),
    "tool call and result": with_result(),
    "text after a tool call": (
        user("hi"),
        assistant(tool_call("c", "look"), "wait"),
        Message("tool_result", (ToolResult("c", (Text("ok"),)),)),
        assistant("so"),
    ),
    "arguments that are not a JSON object": (
        user("hi"),
        assistant(tool_call("c", "sql", "select 1;")),
        Message("tool_result", (ToolResult("c", (Text("1"),)),)),
        assistant("so"),
    ),
    "failed result": with_result(Text("no"), error=True),
    "image in a result": with_result(Text("seen"), PNG),
    "image": (user("hi", PNG), assistant("so")),
    "image by URL": (user("hi", Media("image", "", url="https://example.org/cat.png")), assistant("so")),
    "PDF": (user("hi", Media("document", "application/pdf", data=b"%PDF")), assistant("so")),
    "audio": (user("hi", Media("audio", "audio/wav", data=b"RIFF")), assistant("so")),
    "video": (user("hi", Media("video", "video/mp4", data=b"mp4")), assistant("so")),
    "file on another provider's server": (user("hi", Media("image", "", file_id="file-1")), assistant("so")),
    "image in a reply": said(Text("look"), PNG),
    "reasoning": said(Thinking("hm"), Text("hello")),
    "signature on text": said(Text("hello", raw={"elsewhere": {"thoughtSignature": "eA=="}})),
    "citations": said(Text("hello", raw={"elsewhere": {"citations": [{}]}})),
    "cache marker": said(Text("hello", raw={"elsewhere": {"cache_control": {}, "cachePoint": {"type": "default"}}})),
    "block of an unknown type": said(Text("hello"), Other("telepathy", {"elsewhere": {}})),
    "system message in mid-conversation": (user("hi"), assistant("hello"), system("hurry"), user("so?")),
    "empty input": (user("hi"), assistant("hello"), user(""), assistant("more")),
    "empty reply": (user("hi"), Message("assistant", ())),
}


def cell(target: str, dialog: tuple[Message, ...]) -> str:
    codes = {loss.code: None for loss in formats.get(target).encode(dialog).losses}
    return ", ".join(f"`{code}`" for code in codes) or "✓"


def table() -> str:
    """The losses of each case in each format, for content of another provider."""
    rows = [["", *WIRE], ["---"] * (len(WIRE) + 1)]
    rows += [[what, *(cell(target, dialog) for target in WIRE)] for what, dialog in CASES.items()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text("utf-8")), "utf-8")
