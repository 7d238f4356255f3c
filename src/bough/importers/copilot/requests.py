"""Decode one request of Copilot Chat: the question, and the rounds of calls and text of its reply."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.payload import at, parsed, text_or_none, written
from bough.importers.common.timestamps import from_any
from bough.model import Block, Json, Message, Other, Text, Thinking, ToolCall, ToolResult

FAMILY = "copilot"
Record = dict[str, Json]
SCREEN_ONLY = {
    "undoStop", "codeblockUri", "progressTaskSerialized", "progressMessage", "prepareToolInvocation",
    "mcpServersStarting", "confirmation", "command", "thinkingEnd",
}  # fmt: skip
"""Parts of a reply that show progress."""


def question(request: Record) -> Message:
    message = request.get("message")
    text = message if isinstance(message, str) else text_or_none(at(message, "text")) or ""
    variables = at(request, "variableData", "variables")
    attached = [_attached(one) for one in (variables if isinstance(variables, list) else ())]
    return Message("user", (Text(text),), envelope={FAMILY: {"attached": attached}} if attached else None)


def _attached(variable: Json) -> Json:
    kept = ("kind", "name", "id", "value")
    return {key: variable[key] for key in kept if key in variable} if isinstance(variable, dict) else variable


def model_of(request: Record) -> str | None:
    model = text_or_none(request.get("modelId"))
    return model.removeprefix("copilot/") if model else None


def finished_at(request: Record) -> int | None:
    """The time of the reply: when the request was sent, and how long it took."""
    sent, elapsed = from_any(request.get("timestamp")), at(request, "result", "timings", "totalElapsed")
    if sent is None:
        return None
    return sent + round(elapsed * 1000) if isinstance(elapsed, (int, float)) and elapsed > 0 else sent + 1


def read_reply(request: Record) -> list[Message]:
    """The messages of a reply, from the rounds that the model made, else from what the screen showed."""
    rounds = at(request, "result", "metadata", "toolCallRounds")
    if isinstance(rounds, list) and rounds:
        made = list(_rounds(rounds, at(request, "result", "metadata", "toolCallResults")))
        # The last round is the answer; when it was cut short, only the screen has the rest.
        if made and made[-1].role == "assistant":
            return made
        return [*made, *_shown(request, without_tools=True)]
    return _shown(request)


def _rounds(rounds: list[Json], results: Json) -> Iterator[Message]:
    for one in rounds:
        blocks: list[Block] = []
        thinking = at(one, "thinking", "text")
        thought = "".join(map(str, thinking)) if isinstance(thinking, list) else text_or_none(thinking)
        if thought:
            blocks.append(Thinking(thought, raw={FAMILY: at(one, "thinking")}))
        if text := text_or_none(at(one, "response")):
            blocks.append(Text(text))
        calls = [call for call in at(one, "toolCalls") or () if isinstance(call, dict)]
        for call in calls:
            given = text_or_none(call.get("arguments")) or "{}"
            blocks.append(ToolCall(str(call.get("id")), str(call.get("name")), given))
        if blocks:
            yield Message("assistant", tuple(blocks))
        answers = [
            ToolResult(
                str(call["id"]), tuple(_result(at(results, str(call["id"])))), name=text_or_none(call.get("name"))
            )
            for call in calls
            if at(results, str(call.get("id"))) is not None
        ]
        if answers:
            yield Message("tool_result", tuple(answers))


def _result(result: Json) -> Iterator[Text | Other]:
    parts = at(result, "content")
    for part in parts if isinstance(parts, list) else ():
        value = at(part, "value")
        # A value that is no text is a tree of elements that the prompt was built from.
        yield (
            Text(value)
            if isinstance(value, str)
            else Text("".join(_texts(value)))
            if value
            else Other("part", {FAMILY: part})
        )


def _texts(node: Json) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(text := node.get("text"), str):
            yield text
        for key in ("node", "children"):
            yield from _texts(node.get(key))
    elif isinstance(node, list):
        for child in node:
            yield from _texts(child)


def _shown(request: Record, without_tools: bool = False) -> list[Message]:
    """The messages of the parts that the screen showed."""
    parts = request.get("response")
    messages: list[Message] = []
    blocks: list[Block] = []
    text: list[str] = []

    def flush() -> None:
        if joined := "".join(text).strip():
            blocks.append(Text(joined))
        text.clear()

    for part in parts if isinstance(parts, list) else ():
        kind = at(part, "kind")
        if without_tools and (kind == "toolInvocationSerialized" or kind is None):
            continue
        if kind is None or kind in ("markdownContent", "inlineReference", "markdownVuln"):
            text.append(_markdown(part))
            continue
        if kind in SCREEN_ONLY:
            continue
        flush()
        if kind == "thinking":
            value = part.get("value")
            thought = "".join(map(str, value)) if isinstance(value, list) else text_or_none(value)
            blocks += [Thinking(thought)] if thought else []
        elif kind == "toolInvocationSerialized":
            messages += _invocation(part, blocks)
            blocks = []
        else:
            blocks.append(Other(str(kind), {FAMILY: part}))
    flush()
    error = text_or_none(at(request, "result", "errorDetails", "message"))
    if error:
        blocks.append(Text(error))
    return [*messages, Message("assistant", tuple(blocks), bool(error))] if blocks else messages


def _markdown(part: Json) -> str:
    """The text of a part: Markdown, or the name of a file or symbol inside it."""
    content = at(part, "content")
    for value in (at(part, "value"), at(content, "value"), content):
        if isinstance(value, str):
            return value
    reference = at(part, "inlineReference")
    path = text_or_none(at(reference, "fsPath")) or text_or_none(at(reference, "path"))
    name = text_or_none(at(reference, "name")) or (path or "").rpartition("/")[2]
    return f"`{name}`" if name else ""


def _invocation(part: Record, blocks: list[Block]) -> list[Message]:
    """The call of a tool, after what was said before it, and its result."""
    call_id, details = str(part.get("toolCallId")), part.get("resultDetails")
    given = text_or_none(at(details, "input")) or "{}"
    arguments = given if parsed(given) is not None else written({"input": given})
    call = ToolCall(call_id, str(part.get("toolId")), arguments)
    output = at(details, "output")
    texts = [text for one in (output if isinstance(output, list) else ()) if (text := text_or_none(at(one, "value")))]
    said = at(part, "pastTenseMessage")
    shown = text_or_none(at(said, "value")) or text_or_none(said)
    content = tuple(map(Text, texts or ([shown] if shown else [])))
    failed = at(details, "isError") is True
    made = [Message("assistant", (*blocks, call))]
    if part.get("isComplete") is not False:
        made.append(Message("tool_result", (ToolResult(call_id, content, failed),), failed))
    return made
