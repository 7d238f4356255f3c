"""Metadata of a Claude Code file, found in one pass that parses few of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bough.formats.payload import text_or_none
from bough.importers.claude_code.records import ENVIRONMENT, Record, message_of, read_blocks
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
"""Types of lines with session metadata, and the field of each that has it."""
SHORT = 8192
"""Bytes; lines with metadata are shorter, and searching long lines with the pattern is slow."""

_NOTE = re.compile(rb'"type"\s*:\s*"(summary|' + "|".join(NOTES).encode() + rb')"')
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')
_UUID = re.compile(rb'"uuid"\s*:\s*"([^"]{1,80})"')
_WRAPPED = re.compile(r"^\s*<([a-z][\w-]*)>")
_EDITOR = re.compile(r"<(ide_\w+)>.*?</\1>", re.DOTALL)
"""Context that an editor adds to the prompt: the open file, the selection."""


class SessionMetadata:
    """The metadata of one file."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.session: str | None = None
        self.agent: str | None = None
        self.prompt: str | None = None
        """The first prompt of a human, or the prompt of a subagent."""
        self.model: str | None = None
        self.sidechain = False
        self.began: int | None = None
        self.first: str | None = None
        """The timestamp of its first message; the same in a file that replays this one."""
        self.ended: int | None = None
        self.notes: dict[str, str] = {}
        self.summaries: dict[str, str] = {}
        """Titles by the uuid of a line, which may be in another file."""
        self.environment: dict[str, Json] = {}
        self.ended = max(filter(None, (_time(self._scan(lines)), self.began)), default=None)

    def title(self, summaries: Mapping[str, str], lines: Iterable[bytes]) -> str | None:
        """The user's title, else the generated one, else the first prompt."""
        named = self.notes.get("custom-title") or self.notes.get("ai-title")
        return named or _newest_summary(lines, summaries) or shortened(self.prompt or "")

    def _scan(self, lines: Iterable[bytes]) -> bytes:
        """Reads the metadata; the last line with a timestamp."""
        last = b""
        for line in lines:
            # Lines with a uuid are messages; this test is faster than the pattern.
            if len(line) < SHORT and b'"uuid"' not in line and _NOTE.search(line):
                self._read_note(_parsed(line))
                continue
            last = line if b'"timestamp"' in line else last
            if self.prompt is None or self.model is None:
                self._read_first(_parsed(line))
        return last

    def _read_note(self, line: Record) -> None:
        kind = str(line.get("type"))
        if kind == "summary":
            leaf, text = line.get("leafUuid"), line.get("summary")
            if isinstance(leaf, str) and isinstance(text, str):
                self.summaries[leaf] = text
        elif text := text_or_none(line.get(NOTES.get(kind, ""))):
            self.notes[kind] = text

    def _read_first(self, line: Record) -> None:
        self.session = self.session or text_or_none(line.get("sessionId"))
        self.agent = self.agent or text_or_none(line.get("agentId"))
        self.began = self.began or from_iso(line.get("timestamp"))
        self.first = self.first or (text_or_none(line.get("timestamp")) if "uuid" in line else None)
        self.model = self.model or text_or_none(message_of(line).get("model"))
        self.environment = {key: line[key] for key in ENVIRONMENT if line.get(key)} | self.environment
        if self.prompt is None:
            self.sidechain = self.sidechain or line.get("isSidechain") is True
            self.prompt = prompt_of(line)


def prompt_of(line: Record) -> str | None:
    """The prompt of a human; None for commands and generated text."""
    if line.get("type") != "user" or line.get("isMeta") or line.get("isCompactSummary"):
        return None
    blocks = read_blocks(message_of(line).get("content"))
    texts = (_EDITOR.sub("", block.text) for block in blocks if isinstance(block, Text))
    text = "\n".join(text for text in texts if not _WRAPPED.match(text))
    return text if text.strip() else None


def _newest_summary(lines: Iterable[bytes], summaries: Mapping[str, str]) -> str | None:
    """The newest summary of one of these lines."""
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
