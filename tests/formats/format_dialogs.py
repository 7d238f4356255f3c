"""Random dialogs: well-formed ones, and golden payloads with something changed."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from bough.model import ROLES, Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

PNG = b"\x89PNG\r\n\x1a\n"
words = st.one_of(st.sampled_from(["", " ", "\n", "hi", "a bough", "zwölf"]), st.text(max_size=8))
call_ids = st.one_of(st.sampled_from(["call_1", "toolcall-1", "a b", "x" * 70]), st.text(min_size=1, max_size=6))
tool_names = st.sampled_from(["look", "fs_read", "mcp.server/tool", "n" * 70, "größe"])
arguments = st.sampled_from(["{}", "", '{ "a" : 1.0 }', '{"city": "Zürich"}', "select 1;", "[1]", "NaN"])
media = st.sampled_from(
    [
        Media("image", "image/png", data=PNG),
        Media("image", "image/tiff", data=b"II*"),
        Media("image", "", url="https://example.org/cat.png"),
        Media("image", "", file_id="file-1"),
        Media("document", "application/pdf", data=b"%PDF-1.4", name="a/b.pdf"),
        Media("document", "text/plain", data=b"words"),
        Media("document", "", url="https://example.org/a.pdf"),
        Media("audio", "audio/wav", data=b"RIFF"),
        Media("video", "video/mp4", data=b"mp4"),
        Media("video", "video/mp4", url="s3://bucket/v.mp4"),
    ]
)
texts = st.builds(Text, words)
others = st.just(Other("telepathy", {"elsewhere": {"type": "telepathy"}}))
said = st.one_of(texts, texts, st.builds(Thinking, words), media, others)
result_parts = st.lists(st.one_of(texts, media, others), max_size=3).map(tuple)


@st.composite
def steps(draw: st.DrawFn) -> list[Message]:
    """A reply that calls tools, and all their results."""
    calls = [
        ToolCall(call_id, draw(tool_names), draw(arguments))
        for call_id in draw(st.lists(call_ids, min_size=1, max_size=3, unique=True))
    ]
    blocks: list[Block] = draw(st.lists(said, max_size=2))
    after: list[Block] = draw(st.lists(texts, max_size=1))
    results = [ToolResult(call.call_id, draw(result_parts), draw(st.booleans())) for call in calls]
    return [
        Message("assistant", (*blocks, *calls, *after)),
        Message("tool_result", tuple(results), any(result.error for result in results)),
    ]


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """What the user said and everything up to the final reply."""
    asked: list[Block] = draw(st.lists(st.one_of(texts, media), min_size=1, max_size=3))
    note = [Message("system", (Text("hurry"),))] if draw(st.integers(0, 4)) == 0 else []
    middle = [message for step in draw(st.lists(steps(), max_size=2)) for message in step]
    answer: list[Block] = draw(st.lists(said, max_size=3))
    return [*note, Message("user", tuple(asked)), *middle, Message("assistant", tuple(answer))]


dialogs = st.lists(turns(), min_size=1, max_size=3)
"""Dialogs turn by turn."""


anything = st.one_of(
    said,
    st.builds(ToolCall, call_ids, tool_names, arguments),
    st.builds(ToolResult, call_ids, result_parts, st.booleans()),
)
broken_dialogs = st.lists(
    st.builds(Message, st.sampled_from(ROLES), st.lists(anything, max_size=3).map(tuple), st.booleans()), max_size=5
)
"""Any role with any blocks: orphans, duplicates, calls of the user."""


def flat(dialog: Sequence[Sequence[Message]]) -> list[Message]:
    return [message for turn in dialog for message in turn]


_leaves: st.SearchStrategy[Json] = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", " ", "x", "user", "text", "message", "tool"])
)
junk: st.SearchStrategy[Json] = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(["type", "role", "content", "text", "parts", "id", "invented"]), inner, max_size=2
        ),
    ),
    max_leaves=4,
)


@st.composite
def damaged(draw: st.DrawFn, payload: Json) -> Json:
    """The payload with one value, somewhere in it, replaced, added or taken away."""
    if not isinstance(payload, (dict, list)) or not payload or draw(st.integers(0, 5)) == 0:
        return draw(junk)
    if isinstance(payload, list):
        place = draw(st.integers(0, len(payload) - 1))
        rest = draw(st.sampled_from([[], [draw(damaged(payload[place]))]]))
        return [*payload[:place], *rest, *payload[place + 1 :]]
    key = draw(st.sampled_from(sorted(payload)))
    changed = {name: value for name, value in payload.items() if name != key}
    match draw(st.integers(0, 4)):
        case 0:
            return changed
        case 1:
            return {**payload, "invented": draw(junk)}
    return {**payload, key: draw(damaged(payload[key]))}
