"""The entries of Amazon Q's history: a user's message and the answer to it, in both generations."""

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
class Entry:
    """One exchange: its messages in order, and what could not be read of it."""

    messages: tuple[ImportedMessage, ...]
    skipped: tuple[Skipped, ...] = ()
    directory: str | None = None

    @property
    def last(self) -> str:
        return self.messages[-1].id

    def items(self, parent: str | None) -> Iterator[Item]:
        """The messages, one after another, after what came before them."""
        yield from self.skipped
        for one in self.messages:
            yield ImportedMessage(
                one.id, one.message, parent, one.created_at,
                model=one.model, request_id=one.request_id,
            )  # fmt: skip
            parent = one.id


def entries(history: Json, place: str, model: str | None, conversation: str) -> Iterator[Entry]:
    """The exchanges of a history. They are called by the answer's id, or by all that was said up to them."""
    history = history if isinstance(history, list) else []
    for number, (item, name) in enumerate(zip(history, chained(history, conversation), strict=True)):
        asked, answer, about = _parts(item)
        if not isinstance(asked, dict) or not isinstance(answer, dict):
            # Nothing of it is known but that it is there; the next one follows it all the same.
            lost = ImportedMessage(name, Message("system", (Other("amazon-q.entry", item),)))
            yield Entry((lost,), (Skipped(f"{place}[{number}]", "It is not an exchange.", item),))
            continue
        yield _entry(asked, answer, about, name, model)


def _parts(item: Json) -> tuple[Json, Json, Json]:
    """The user's message, the answer, and what is known of the request; older versions have pairs."""
    if isinstance(item, dict):
        return item.get("user"), item.get("assistant"), item.get("request_metadata")
    if isinstance(item, list) and len(item) >= 2:
        return item[0], item[1], item[2] if len(item) > 2 else None
    return None, None, None


def _entry(asked: dict[str, Json], answer: dict[str, Json], about: Json, name: str, model: str | None) -> Entry:
    kind, said = next(iter(answer.items()), ("", None))
    name = text_or_none(at(said, "message_id")) or text_or_none(at(about, "message_id")) or name
    begun = from_iso(asked.get("timestamp")) or from_milliseconds(count(about, "request_start_timestamp_ms"))
    ended = from_milliseconds(count(about, "stream_end_timestamp_ms"))
    messages = [
        ImportedMessage(f"{name}:{place}", message, created_at=begun)
        for place, message in enumerate(asked_messages(asked))
    ]
    reply = Message("assistant", tuple(_reply(said))) if kind in ("Response", "ToolUse") else None
    messages.append(ImportedMessage(
        name, reply or Message("assistant", (Other(f"amazon-q.{kind}", answer),)), created_at=ended or begun,
        model=text_or_none(at(about, "model_id")) or model, request_id=text_or_none(at(about, "request_id")),
    ))  # fmt: skip
    directory = text_or_none(at(asked, "env_context", "env_state", "current_working_directory"))
    return Entry(tuple(messages), directory=directory)


def asked_messages(asked: dict[str, Json]) -> Iterator[Message]:
    """The results of tools, if there are any, and the user's words."""
    content = asked.get("content")
    prompt = at(content, "Prompt", "prompt")
    results = at(content, "ToolUseResults", "tool_use_results")
    if isinstance(cancelled := at(content, "CancelledToolUses"), dict):
        prompt, results = cancelled.get("prompt"), cancelled.get("tool_use_results")
    beside = {name: asked[name] for name in ("additional_context", "env_context") if asked.get(name)}
    if isinstance(results, list) and results:
        yield Message("tool_result", tuple(map(_result, results)))
    images = tuple(_images(asked.get("images")))
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
    """Pictures, which are written as lists of the numbers of their bytes."""
    for image in images if isinstance(images, list) else ():
        form, numbers = at(image, "format"), at(image, "source", "Bytes")
        try:
            data = bytes(numbers)
        except (TypeError, ValueError):
            yield Other("amazon-q.image", image)
        else:
            yield Media("image", FORMATS.get(str(form).lower(), f"image/{str(form).lower()}"), data)


def _reply(said: Json) -> Iterator[Block]:
    if text := text_or_none(at(said, "content")):
        yield Text(text)
    calls = at(said, "tool_uses")
    for call in calls if isinstance(calls, list) else ():
        # An unknown tool was renamed to "dummy" when it was loaded: the original says what was called.
        name = text_or_none(at(call, "orig_name")) or text_or_none(at(call, "name")) or ""
        arguments = at(call, "args") if at(call, "orig_args") is None else at(call, "orig_args")
        yield ToolCall(text_or_none(at(call, "id")) or "", name, written({} if arguments is None else arguments),
                       raw={"amazon-q": call})  # fmt: skip
