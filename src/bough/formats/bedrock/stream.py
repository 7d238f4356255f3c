"""Assemble a reply from Bedrock's stream."""

from __future__ import annotations

import json

from bough.errors import FormatError
from bough.formats.payload import as_dict, at, plain
from bough.model import Json

_STARTS: dict[str, dict[str, Json]] = {"toolUse": {"input": ""}, "toolResult": {"content": []}}
"""Fields that the deltas of a block fill."""


class BedrockStream:
    """Accumulates the events of ConverseStream, `messageStart` to `metadata`."""

    def __init__(self) -> None:
        self._role = "assistant"
        self._blocks: dict[int, dict[str, Json]] = {}
        self._rest: dict[str, Json] = {}
        self._unfinished: set[int] = set()

    def feed(self, event: Json) -> None:
        for kind, body in as_dict(plain(event), "An event").items():
            match kind:
                case "messageStart":
                    self._role = at(body, "role") or self._role
                case "contentBlockStart":
                    self._start(_index(body), as_dict(at(body, "start"), "contentBlockStart.start"))
                case "contentBlockDelta":
                    self._grow(_index(body), as_dict(at(body, "delta"), "contentBlockDelta.delta"))
                case "contentBlockStop":
                    self._unfinished.discard(_index(body))
                case "messageStop" | "metadata":
                    self._rest.update(as_dict(body, kind))
                case _ if kind.endswith("Exception"):
                    raise FormatError(f"The stream reported {kind}: {at(body, 'message')}")

    def reply(self) -> dict[str, Json]:
        """The reply so far. A call with incomplete input is left out, because it must not be run."""
        content = [_closed(self._blocks[index]) for index in sorted(self._blocks) if index not in self._unfinished]
        return {"output": {"message": {"role": self._role, "content": content}}, **self._rest}

    def _start(self, index: int, start: dict[str, Json]) -> None:
        self._blocks[index] = {
            kind: {**as_dict(body, f"contentBlockStart.{kind}"), **_STARTS.get(kind, {})}
            for kind, body in start.items()
        }

    def _grow(self, index: int, delta: dict[str, Json]) -> None:
        block = self._blocks.setdefault(index, {})
        for kind, part in delta.items():
            match kind:
                case "text":
                    block["text"] = block.get("text", "") + part
                case "toolUse":
                    call = block.setdefault("toolUse", {"input": ""})
                    call["input"] += at(part, "input") or ""
                    self._unfinished.add(index)
                case "toolResult":
                    block.setdefault("toolResult", {"content": []})["content"] += part
                case "reasoningContent":
                    _reason(block.setdefault("reasoningContent", {}), as_dict(part, "delta.reasoningContent"))
                case "image" | "audio" | "video":
                    _append_media(block.setdefault(kind, {}), as_dict(part, f"delta.{kind}"))
                case "citation":
                    block.setdefault("citations", []).append(part)
                case _:
                    block[kind] = part


def _append_media(media: dict[str, Json], part: dict[str, Json]) -> None:
    """Add a piece of streamed media: the bytes of its source grow, other fields are whole."""
    source, more = dict(media.get("source") or {}), part.get("source") or {}
    for key, value in more.items():
        known = source.get(key)
        source[key] = known + value if key == "bytes" and known is not None else value
    media.update({**part, "source": source} if source else part)


def _reason(reasoning: dict[str, Json], part: dict[str, Json]) -> None:
    for key, value in part.items():
        if key == "redactedContent":
            reasoning[key] = value if key not in reasoning else reasoning[key] + value
        elif key == "text":
            text = reasoning.setdefault("reasoningText", {"text": ""})
            text["text"] += value
        else:
            reasoning.setdefault("reasoningText", {"text": ""})[key] = value


def _closed(block: dict[str, Json]) -> dict[str, Json]:
    """The block as Converse returns it: input parsed, text with citations as citationsContent."""
    if "toolUse" in block:
        return {"toolUse": {**block["toolUse"], "input": _input(block["toolUse"].get("input"))}}
    if "citations" in block:
        cited = {"content": [{"text": block.get("text", "")}], "citations": block["citations"]}
        return {"citationsContent": cited}
    return block


def _input(text: Json) -> Json:
    try:
        return json.loads(text) if text else {}
    except ValueError as error:
        raise FormatError(f"A tool's input is not JSON: {error}.") from None


def _index(body: Json) -> int:
    index = at(body, "contentBlockIndex")
    if not isinstance(index, int):
        raise FormatError("An event about a block needs contentBlockIndex.")
    return index
