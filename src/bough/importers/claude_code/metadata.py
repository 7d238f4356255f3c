"""What a Claude Code file says about itself, found by one quick look over its lines: most of them are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bough.formats.payload import text_or_none
from bough.importers.claude_code.records import SCENE, Record, message_of, read_blocks
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.model import Json, Text

NOTES = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "agent-name": "agentName",
    "agent-setting": "agentSetting",
    "permission-mode": "permissionMode",
    "mode": "mode",
    "pr-link": "prUrl",
    "last-prompt": "lastPrompt",
}
"""Lines that name the session, and the field of each that does."""
SHORT = 8192

_NOTE = re.compile(rb'"type"\s*:\s*"(summary|' + "|".join(NOTES).encode() + rb')"')
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')
_UUID = re.compile(rb'"uuid"\s*:\s*"([^"]{1,80})"')
_WRAPPED = re.compile(r"^\s*<([a-z][\w-]*)>")
_EDITOR = re.compile(r"<(ide_\w+)>.*?</\1>", re.DOTALL)
"""What an editor puts before the user's words: which file is open, what is selected."""


class Heading:
    """What is known of a file before it is read."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.session: str | None = None
        self.agent: str | None = None
        self.prompt: str | None = None
        """What a human asked first, or what a subagent was asked to do."""
        self.model: str | None = None
        self.sidechain = False
        self.began: int | None = None
        self.first: str | None = None
        """When its first message was written: a file that replays another one says the same."""
        self.ended: int | None = None
        self.notes: dict[str, str] = {}
        self.summaries: dict[str, str] = {}
        """Titles by the line they speak of, which may be in another file."""
        self.scene: dict[str, Json] = {}
        self.ended = max(filter(None, (_time(self._look(lines)), self.began)), default=None)

    def title(self, summaries: Mapping[str, str], lines: Iterable[bytes]) -> str | None:
        """What the user called it, else what Claude Code did, else how it began."""
        named = self.notes.get("custom-title") or self.notes.get("ai-title")
        return named or _summary_of(lines, summaries) or shortened(self.prompt or "")

    def _look(self, lines: Iterable[bytes]) -> bytes:
        """Goes over the lines; the last one that says something."""
        last = b""
        for line in lines:
            # A line with a name of its own is none of these; looking for one is faster than the pattern.
            if len(line) < SHORT and b'"uuid"' not in line and _NOTE.search(line):
                self._note(_parsed(line))
                continue
            last = line if b'"timestamp"' in line else last
            if self.prompt is None or self.model is None:
                self._begin(_parsed(line))
        return last

    def _note(self, line: Record) -> None:
        kind = str(line.get("type"))
        if kind == "summary":
            leaf, words = line.get("leafUuid"), line.get("summary")
            if isinstance(leaf, str) and isinstance(words, str):
                self.summaries[leaf] = words
        elif words := text_or_none(line.get(NOTES.get(kind, ""))):
            self.notes[kind] = words

    def _begin(self, line: Record) -> None:
        self.session = self.session or text_or_none(line.get("sessionId"))
        self.agent = self.agent or text_or_none(line.get("agentId"))
        self.began = self.began or from_iso(line.get("timestamp"))
        self.first = self.first or (text_or_none(line.get("timestamp")) if "uuid" in line else None)
        self.model = self.model or text_or_none(message_of(line).get("model"))
        self.scene = {key: line[key] for key in SCENE if line.get(key)} | self.scene
        if self.prompt is None:
            self.sidechain = self.sidechain or line.get("isSidechain") is True
            self.prompt = prompt_of(line)


def prompt_of(line: Record) -> str | None:
    """What a human asked; commands and what a program put into their mouth do not count."""
    if line.get("type") != "user" or line.get("isMeta") or line.get("isCompactSummary"):
        return None
    blocks = read_blocks(message_of(line).get("content"))
    texts = (_EDITOR.sub("", block.text) for block in blocks if isinstance(block, Text))
    words = "\n".join(text for text in texts if not _WRAPPED.match(text))
    return words if words.strip() else None


def _summary_of(lines: Iterable[bytes], summaries: Mapping[str, str]) -> str | None:
    """The newest summary that speaks of one of these lines."""
    found = None
    for line in lines if summaries else ():
        for name in _UUID.findall(line):
            found = summaries.get(name.decode("utf-8", "replace"), found)
    return found


def _parsed(line: bytes) -> Record:
    value = parse_json_or_none(line)
    return value if isinstance(value, dict) else {}


def _time(line: bytes) -> int | None:
    found = _TIME.findall(line)
    return from_iso(found[-1].decode("ascii", "replace")) if found else None
