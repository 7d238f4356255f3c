"""Assemble an interaction from its stream."""

from __future__ import annotations

import json

from bough.errors import FormatError
from bough.formats.media import from_base64, to_base64
from bough.formats.payload import as_dict, as_text, at, plain, position
from bough.model import Json

_MEDIA = ("audio", "document", "image", "video")
_LIFECYCLE = ("interaction.created", "interaction.start", "interaction.completed", "interaction.complete")


class InteractionsStream:
    """Accumulates the events `interaction.created` to `interaction.completed`.

    The first version of the API names the events of its outputs `content.*` instead of `step.*`.
    """

    def __init__(self) -> None:
        self._interaction: dict[str, Json] = {}
        self._steps: dict[int, dict[str, Json]] = {}
        self._arguments: dict[int, str] = {}
        """JSON text of the arguments of calls that have not ended."""

    def feed(self, event: Json) -> None:
        event = as_dict(plain(event), "An event")
        kind = as_text(event.get("event_type"), "event.event_type")
        match kind:
            case "error":
                error = event.get("error")
                raise FormatError(f"The stream reported an error: {at(error, 'message') or error}")
            case _ if kind in _LIFECYCLE:
                told = as_dict(event.get("interaction"), f"{kind}.interaction")
                self._interaction.update({key: value for key, value in told.items() if value is not None})
            case "interaction.status_update" if event.get("status"):
                self._interaction["status"] = event["status"]
            case "step.start" | "content.start":
                self._start(position(event, "index"), as_dict(event.get(kind.partition(".")[0]), f"{kind}.step"))
            case "step.delta" | "content.delta":
                self._grow(position(event, "index"), as_dict(event.get("delta"), f"{kind}.delta"))
            case "step.stop" | "content.stop":
                self._stop(position(event, "index"))

    def reply(self) -> dict[str, Json]:
        """The interaction so far. A call with incomplete arguments is left out, because it must not be run."""
        if self._interaction.get("steps") or self._interaction.get("outputs"):
            return dict(self._interaction)
        steps = [self._steps[index] for index in sorted(self._steps) if index not in self._arguments]
        return {**self._interaction, "steps": steps}

    def _start(self, index: int, step: dict[str, Json]) -> None:
        self._steps[index] = dict(step)
        if step.get("type") == "function_call" and not step.get("arguments"):
            self._arguments[index] = ""

    def _stop(self, index: int) -> None:
        text = self._arguments.pop(index, None)
        if text is None or index not in self._steps:
            return
        try:
            self._steps[index]["arguments"] = json.loads(text) if text else {}
        except ValueError as error:
            raise FormatError(f"A tool's arguments are not JSON: {error}.") from None

    def _grow(self, index: int, delta: dict[str, Json]) -> None:
        step = self._steps.setdefault(index, {"type": _type_of(delta)})
        kind = delta.get("type")
        match kind:
            case "text" if step.get("type") == "text":
                step["text"] = (step.get("text") or "") + (delta.get("text") or "")
            case "text" | "text_annotation_delta" | "text_annotation":
                step["content"] = _with_text(step.get("content") or [], delta)
            case "thought_summary":
                step["summary"] = _with_summary(step.get("summary") or [], delta.get("content"))
            case "thought_signature":
                step["signature"] = delta.get("signature")
            case "arguments_delta" if index in self._arguments:
                self._arguments[index] += as_text(delta.get("arguments") or "", "delta.arguments")
            case _ if kind in _MEDIA and step.get("type") == "model_output":
                step["content"] = _with_media(step.get("content") or [], delta)
            case _:
                step.update({key: value for key, value in delta.items() if key != "type"})
                self._arguments.pop(index, None)


def _type_of(delta: dict[str, Json]) -> Json:
    """The type of a step that was not announced."""
    return "thought" if str(delta.get("type")).startswith("thought") else "model_output"


def _with_text(content: list[Json], delta: dict[str, Json]) -> list[Json]:
    """The contents of an output with more text, or with annotations of the last text."""
    last = content[-1] if content and at(content[-1], "type") == "text" else None
    grown: dict[str, Json] = {"type": "text", "text": "", **(last or {})}
    grown["text"] += delta.get("text") or ""
    if delta.get("annotations"):
        grown["annotations"] = [*(grown.get("annotations") or []), *delta["annotations"]]
    return [*content[:-1], grown] if last else [*content, grown]


def _with_summary(summary: list[Json], more: Json) -> list[Json]:
    last = summary[-1] if summary else None
    if at(last, "type") == "text" and at(more, "type") == "text":
        return [*summary[:-1], {**last, **more, "text": last["text"] + more["text"]}] if last else summary
    return [*summary, more]


def _with_media(content: list[Json], delta: dict[str, Json]) -> list[Json]:
    """The contents of an output with more media: pieces of one audio or video follow each other."""
    last = content[-1] if content else None
    before, more = from_base64(at(last, "data")), from_base64(delta.get("data"))
    is_one = at(last, "type") == delta.get("type") and delta["type"] in ("audio", "video")
    if last and is_one and before is not None and more is not None:
        return [*content[:-1], {**last, **delta, "data": to_base64(before + more)}]
    return [*content, delta]
