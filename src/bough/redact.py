"""A `before_save` hook that replaces secrets before anything is hashed or stored.

    redactor = Redactor()
    store = bough.connect(before_save=redactor)
    redactor.found                              # Counter({'github-token': 1})

Recognised are tokens with a known prefix, private keys, passwords in URLs, and values assigned to a name such as
`password` or `api_key`. A secret without such a form is not found, and binary content is not searched.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from bough.errors import Refused
from bough.model import Block, Json, Media, Message, Other, ToolCall, ToolResult
from bough.model.values import replace

NAMES = (
    "password|passwd|pwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret"
    "|access[_-]?key|secret[_-]?(?:access[_-]?)?key"
)

PATTERNS: Mapping[str, str] = MappingProxyType({
    "private-key": (
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----)){0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
    ),
    "anthropic-key": r"\bsk-ant-[\w-]{20,200}",
    "openrouter-key": r"\bsk-or-[\w-]{20,200}",
    "openai-key": r"\bsk-(?:proj-|svcacct-|admin-)?[\w-]{20,200}",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})",
    "gitlab-token": r"\bglpat-[\w-]{20,64}",
    "slack-token": r"\bxox[abeprs]-[\w-]{10,250}",
    "google-key": r"\bAIza[\w-]{35}",
    "aws-key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "stripe-key": r"\b[sr]k_(?:live|test)_\w{16,250}",
    "huggingface-token": r"\bhf_[A-Za-z0-9]{30,100}",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}",
    "pypi-token": r"\bpypi-[\w-]{50,250}",
    "telegram-token": r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b",
    "jwt": r"\beyJ[\w-]{10,2000}\.eyJ[\w-]{10,4000}\.[\w-]{10,1000}",
    "bearer-token": r"(?<=[Bb]earer )[\w.~+/-]{20,2000}=*",
    "url-password": r"(?<=://)[^\s/:@]{0,200}:[^\s/@]{1,200}(?=@)",
    "password": (
        rf"(?i:(?<![a-z])(?:{NAMES})[\"']?\s{{0,4}}[:=]\s{{0,4}})"
        r"(?:\"[^\"\s]{6,200}\"|'[^'\s]{6,200}'|[^\s\"',;<>(){}$\[\]]{8,200})"
    ),
})  # fmt: skip
"""Regular expressions of secrets, by kind; the first match wins. Every repetition is bounded, for hostile text."""

ASSIGNED = re.compile(r"(?i)([a-z_-]+[\"']?\s{0,4}[:=]\s{0,4}([\"']?))")
"""The name, the sign and the quote before an assigned value: these stay."""
SECRET_NAME = re.compile(rf"(?i).*(?<![a-z])(?:{NAMES})")
SHORTEST = 6
"""Least length of a value that counts as a secret because of its name."""


class Redactor:
    """Replaces secrets in messages by `[redacted: KIND]`. `found` counts what it replaced, by kind.

    `patterns` maps kinds to regular expressions and takes the place of `PATTERNS`. `report` is called with the kind of
    each secret that was replaced. One instance may serve several threads and stores.
    """

    def __init__(
        self, patterns: Mapping[str, str] = PATTERNS, *, report: Callable[[str], object] | None = None
    ) -> None:
        self.found: Counter[str] = Counter()
        self._kinds = list(patterns)
        self._pattern = re.compile("|".join(f"(?P<k{at}>{text})" for at, text in enumerate(patterns.values())))
        self._report = report

    def __call__(self, message: Message) -> Message:
        """The message without secrets; the same object if it has none. Raises `Refused` for one nested too deeply."""
        try:
            return self._message(message)
        except RecursionError:
            raise Refused(
                "A message is nested too deeply to be searched for secrets; nothing was saved. Store it as text."
            ) from None

    def _message(self, message: Message) -> Message:
        blocks = tuple(self._block(block) for block in message.blocks)
        envelope = self.json(message.envelope)
        if envelope is message.envelope and all(new is old for new, old in zip(blocks, message.blocks, strict=True)):
            return message
        return replace(message, blocks=blocks, envelope=envelope)

    def text(self, text: str) -> str:
        """A text without secrets."""
        return self._pattern.sub(self._replacement, text)

    def json(self, value: Json) -> Json:
        """A JSON value without secrets in its strings; the same object if it has none."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            items = [self.json(item) for item in value]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        if isinstance(value, dict):
            fields = {self.text(name): self._named(name, item) for name, item in value.items()}
            return value if all(fields.get(name) is item for name, item in value.items()) else fields
        return value

    def _named(self, name: str, value: Json) -> Json:
        """The value of a JSON field, whose name may say that it is a secret."""
        clean = self.json(value)
        if clean is value and isinstance(value, str) and len(value) >= SHORTEST and SECRET_NAME.fullmatch(name):
            return self._count("password")
        return clean

    def _block(self, block: Block) -> Block:
        changes: dict[str, Any] = {"raw": self.json(block.raw), "extra": self.json(block.extra)}
        if isinstance(block, ToolCall):
            changes["arguments"] = self._arguments(block.arguments)
        elif isinstance(block, ToolResult):
            parts = tuple(self._block(part) for part in block.content)
            unchanged = all(new is old for new, old in zip(parts, block.content, strict=True))
            changes["content"] = block.content if unchanged else parts
        elif isinstance(block, Media):
            changes |= {"url": block.url and self.text(block.url), "name": block.name and self.text(block.name)}
        elif not isinstance(block, Other):
            changes["text"] = self.text(block.text)
        same = all(new is getattr(block, name) for name, new in changes.items())
        return block if same else replace(block, **changes)

    def _arguments(self, text: str) -> str:
        """The arguments of a call, which are JSON as text, or were meant to be."""
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text)
        clean = self.json(value)
        return text if clean is value else json.dumps(clean, ensure_ascii=False)

    def _replacement(self, match: re.Match[str]) -> str:
        kind = self._kinds[int((match.lastgroup or "k0")[1:])]
        name = ASSIGNED.match(match[0]) if kind == "password" else None
        before, quote = name.groups() if name else ("", "")
        return f"{before}{self._count(kind)}{quote}"

    def _count(self, kind: str) -> str:
        self.found[kind] += 1
        if self._report is not None:
            self._report(kind)
        return f"[redacted: {kind}]"
