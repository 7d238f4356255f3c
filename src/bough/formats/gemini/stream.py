"""Assemble a reply from Gemini's stream, whose chunks are partial replies."""

from __future__ import annotations

from bough.formats.gemini.partial_args import grown_call, is_partial_call
from bough.formats.payload import as_dict, as_list, plain
from bough.model import Json

_TEXT_KEYS = {"text", "thought", "thoughtSignature"}


class GeminiStream:
    """Accumulates the chunks of `streamGenerateContent`."""

    def __init__(self) -> None:
        self._rest: dict[str, Json] = {}
        self._candidates: dict[int, dict[str, Json]] = {}

    def feed(self, event: Json) -> None:
        chunk = as_dict(plain(event), "A chunk")
        self._rest.update({key: value for key, value in chunk.items() if key != "candidates"})
        for item in as_list(chunk.get("candidates") or [], "chunk.candidates"):
            candidate = as_dict(item, "chunk.candidates[]")
            known = self._candidates.setdefault(candidate.get("index") or 0, {})
            content = candidate.get("content")
            known.update({key: value for key, value in candidate.items() if key != "content" and value is not None})
            if content is not None:
                _extend(known.setdefault("content", {"parts": []}), as_dict(content, "chunk.candidates[].content"))

    def reply(self) -> dict[str, Json]:
        candidates = [self._candidates[index] for index in sorted(self._candidates)]
        return {"candidates": candidates, **self._rest} if candidates else dict(self._rest)


def _extend(content: dict[str, Json], more: dict[str, Json]) -> None:
    content.update({key: value for key, value in more.items() if key != "parts"})
    parts = content["parts"]
    for part in as_list(more.get("parts") or [], "chunk.candidates[].content.parts"):
        if parts and is_partial_call(parts[-1]) and "functionCall" in as_dict(part, "part"):
            parts[-1] = grown_call(parts[-1], part)
        elif "functionCall" in as_dict(part, "part"):
            parts.append(grown_call({}, part))
        elif parts and _continues(parts[-1], part):
            parts[-1] = {**parts[-1], **part, "text": parts[-1]["text"] + part["text"]}
        else:
            parts.append(part)


def _continues(before: dict[str, Json], part: dict[str, Json]) -> bool:
    """Whether two text parts are one: both are thoughts or neither is, and no signature ends the first."""
    both_text = "text" in before and "text" in part and before.keys() | part.keys() <= _TEXT_KEYS
    return both_text and before.get("thought") == part.get("thought") and "thoughtSignature" not in before
