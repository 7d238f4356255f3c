"""Exchanges of Amazon Q's history, a user message with its answer, in both versions of the format."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.media import FORMATS
from bough.formats.payload import at, count, text_or_none, written
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_iso, from_milliseconds
from bough.model import Block, Json, Media, Message, Other, Text, ToolCall, ToolResult
from bough.model.imported import ImportedMessage, Item, Skipped
from bough.model.values import value


@value
class Exchange:
    """The messages of one exchange in order."""

    messages: tuple[ImportedMessage, ...]
    skipped: tuple[Skipped, ...] = ()
    directory: str | None = None

    @property
    def last(self) -> str:
        return self.messages[-1].id

    def items(self, parent: str | None) -> Iterator[Item]:
        """The messages as a path below `parent`."""
        yield from self.skipped
        for imported in self.messages:
            yield ImportedMessage(
                imported.id, imported.message, parent, imported.created_at,
                model=imported.model, request_id=imported.request_id,
            )  # fmt: skip
            parent = imported.id


def exchanges(history: Json, place: str, model: str | None, conversation: str) -> Iterator[Exchange]:
    """The exchanges of a history. An exchange without an id gets one from its content and all before it."""
    history = history if isinstance(history, list) else []
    used: set[str] = set()
    for number, (item, name) in enumerate(zip(history, chained(history, conversation), strict=True)):
        request, reply, metadata = _parts(item)
        if not isinstance(request, dict) or not isinstance(reply, dict):
            # It is kept as a note, so that the next exchange has a parent.
            unreadable = ImportedMessage(name, Message("system", (Other("amazon-q.entry", item),)))
            yield Exchange((unreadable,), (Skipped(f"{place}[{number}]", "It is not an exchange.", item),))
            continue
        given = _given_id(reply, metadata)
        # Two replies may have one id; the second gets one from its content.
        yield _exchange(request, reply, metadata, name if given is None or given in used else given, model)
        used.add(given or name)


def _parts(item: Json) -> tuple[Json, Json, Json]:
    """The user message, the answer and the metadata of the request; older versions have pairs."""
    if isinstance(item, dict):
        return item.get("user"), item.get("assistant"), item.get("request_metadata")
    if isinstance(item, list) and len(item) >= 2:
        return item[0], item[1], item[2] if len(item) > 2 else None
    return None, None, None


def _given_id(answer: dict[str, Json], metadata: Json) -> str | None:
    content = next(iter(answer.values()), None)
    return text_or_none(at(content, "message_id")) or text_or_none(at(metadata, "message_id"))


def _exchange(
    request: dict[str, Json], answer: dict[str, Json], metadata: Json, name: str, model: str | None
) -> Exchange:
    kind, content = next(iter(answer.items()), ("", None))
    started = from_iso(request.get("timestamp")) or from_milliseconds(count(metadata, "request_start_timestamp_ms"))
    ended = from_milliseconds(count(metadata, "stream_end_timestamp_ms"))
    messages = [
        ImportedMessage(f"{name}:{number}", message, created_at=started)
        for number, message in enumerate(request_messages(request))
    ]
    reply = Message("assistant", tuple(_reply(content))) if kind in ("Response", "ToolUse") else None
    messages.append(ImportedMessage(
        name, reply or Message("assistant", (Other(f"amazon-q.{kind}", answer),)), created_at=ended or started,
        model=text_or_none(at(metadata, "model_id")) or model, request_id=text_or_none(at(metadata, "request_id")),
    ))  # fmt: skip
    directory = text_or_none(at(request, "env_context", "env_state", "current_working_directory"))
    return Exchange(tuple(messages), directory=directory)


def request_messages(request: dict[str, Json]) -> Iterator[Message]:
    """The tool results, if there are any, and the prompt."""
    content = request.get("content")
    prompt = at(content, "Prompt", "prompt")
    results = at(content, "ToolUseResults", "tool_use_results")
    if isinstance(cancelled := at(content, "CancelledToolUses"), dict):
        prompt, results = cancelled.get("prompt"), cancelled.get("tool_use_results")
    beside = {name: request[name] for name in ("additional_context", "env_context") if request.get(name)}
    if isinstance(results, list) and results:
        yield Message("tool_result", tuple(map(_result, results)))
    images = tuple(_images(request.get("images")))
    if isinstance(prompt, str) or images:
        yield Message("user", (Text(str(prompt or ""), beside or None), *images))
    elif not results:
        yield Message("user", (Other("amazon-q.user", content),))


def _result(item: Json) -> Block:
    call = text_or_none(at(item, "tool_use_id"))
    content = at(item, "content")
    if call is None or not isinstance(content, list):
        return Other("amazon-q.tool_use_result", item)
    parts = tuple(_part(part) for part in content)
    return ToolResult(call, parts, at(item, "status") == "Error")


def _part(part: Json) -> Text | Other:
    text = text_or_none(at(part, "Text"))
    if text is not None:
        return Text(text)
    if isinstance(part, dict) and "Json" in part:
        return Text(written(part["Json"]), raw={"amazon-q": part})
    return Other("amazon-q.content", part)


def _images(images: Json) -> Iterator[Block]:
    """Images, whose bytes are lists of numbers."""
    for image in images if isinstance(images, list) else ():
        form, numbers = at(image, "format"), at(image, "source", "Bytes")
        try:
            data = bytes(numbers)
        except (TypeError, ValueError):
            yield Other("amazon-q.image", image)
        else:
            yield Media("image", FORMATS.get(str(form).lower(), f"image/{str(form).lower()}"), data)


def _reply(content: Json) -> Iterator[Block]:
    if text := text_or_none(at(content, "content")):
        yield Text(text)
    calls = at(content, "tool_uses")
    for call in calls if isinstance(calls, list) else ():
        # Amazon Q renames unknown tools to "dummy" when it loads them; the original name is the called one.
        name = text_or_none(at(call, "orig_name")) or text_or_none(at(call, "name")) or ""
        arguments = at(call, "args") if at(call, "orig_args") is None else at(call, "orig_args")
        yield ToolCall(text_or_none(at(call, "id")) or "", name, written({} if arguments is None else arguments),
                       raw={"amazon-q": call})  # fmt: skip
