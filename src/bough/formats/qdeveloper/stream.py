"""Assemble a reply from Q Developer's stream."""

from __future__ import annotations

import json

from bough.errors import FormatError
from bough.formats.payload import as_dict, as_text, at, plain
from bough.model import Json


class QDeveloperStream:
    """Accumulates `assistantResponseEvent`s, `toolUseEvent`s and the other events."""

    def __init__(self) -> None:
        self._message: dict[str, Json] = {"content": ""}
        self._calls: dict[str, dict[str, Json]] = {}
        self._rest: dict[str, Json] = {}
        self._unfinished: set[str] = set()

    def feed(self, event: Json) -> None:
        for kind, body in as_dict(plain(event), "An event").items():
            match kind:
                case "assistantResponseEvent":
                    self._message["content"] += as_text(at(body, "content"), f"{kind}.content")
                case "toolUseEvent":
                    self._call(as_dict(body, kind))
                case "reasoningContentEvent":
                    self._reason(as_dict(body, kind))
                case "codeReferenceEvent":
                    self._append("references", at(body, "references"))
                case "supplementaryWebLinksEvent":
                    self._append("supplementaryWebLinks", at(body, "supplementaryWebLinks"))
                case "followupPromptEvent":
                    self._message["followupPrompt"] = at(body, "followupPrompt")
                case "error" | "invalidStateEvent":
                    raise FormatError(f"The stream reported {kind}: {at(body, 'message')}")
                case _:
                    self._rest[kind] = body

    def reply(self) -> dict[str, Json]:
        """The reply so far. A call with incomplete input is left out, because it must not be run."""
        message = dict(self._message)
        finished = [call for call_id, call in self._calls.items() if call_id not in self._unfinished]
        if finished:
            message["toolUses"] = [{**call, "input": _input(call["input"])} for call in finished]
        return {"assistantResponseMessage": message, **self._rest}

    def _append(self, key: str, items: Json) -> None:
        self._message[key] = [*self._message.get(key, []), *(items or [])]

    def _call(self, body: dict[str, Json]) -> None:
        call_id = as_text(body.get("toolUseId"), "toolUseEvent.toolUseId")
        call = self._calls.setdefault(call_id, {"toolUseId": call_id, "name": body.get("name"), "input": ""})
        call["input"] += body.get("input") or ""
        (self._unfinished.discard if body.get("stop") else self._unfinished.add)(call_id)

    def _reason(self, body: dict[str, Json]) -> None:
        reasoning = self._message.setdefault("reasoningContent", {})
        if "redactedContent" in body:
            reasoning["redactedContent"] = body["redactedContent"]
            return
        text = reasoning.setdefault("reasoningText", {"text": ""})
        text["text"] += body.get("text") or ""
        if "signature" in body:
            text["signature"] = body["signature"]


def _input(text: str) -> Json:
    try:
        return json.loads(text) if text else {}
    except ValueError as error:
        raise FormatError(f"A tool's input is not JSON: {error}.") from None
