"""Messages for the properties: small ones that repeat and can be searched, and hostile ones of any shape."""

from __future__ import annotations

import base64
import json
from typing import Any

from hypothesis import strategies as st

from bough import Block, Media, Message, Other, Text, Thinking, ToolCall, ToolResult, assistant, system, tool_call, user
from bough import tool_result as answer
from bough.model import ROLES, MediaKind, Role
from bough.model.values import replace

# Small messages, few enough that the same ones are said again -------------------------------------------------------

WORDS = ("alder", "birch", "cedar", "elm")
LONG = " ".join(["birch", *(f"ring{number}" for number in range(900))])
"""Stored apart from its row, and once however often it is said."""
PIXELS = bytes(range(256)) * 20

ASKED = (
    user("alder"),
    user("birch"),
    user("alder birch"),
    user(Text("birch", raw={"type": "text", "text": "birch", "cache_control": {"type": "ephemeral"}})),
    user(LONG),
    user("cedar", Media("image", "image/png", data=PIXELS)),
    user(),
)
REPLIED = (
    assistant("cedar"),
    assistant("elm"),
    assistant(Thinking("alder"), "cedar elm"),
    assistant(LONG),
    Message("assistant", (Text("elm"),), envelope={"id": "resp_1", "output": [{"text": "elm"}]}),
    assistant(tool_call("c1", "prune", {"tree": "elm"})),
    answer("c1", "birch"),
    answer("c1", ["alder", Media("image", "image/png", data=PIXELS)], error=True),
    system("cedar"),
)


def an_asked(number: int) -> Message:
    return ASKED[number]


def a_replied(number: int) -> Message:
    return REPLIED[number]


asked = st.integers(0, len(ASKED) - 1).map(an_asked)
replied = st.integers(0, len(REPLIED) - 1).map(a_replied)
spoken = st.one_of(asked, replied)
replies = st.lists(replied, min_size=1, max_size=3)


@st.composite
def complete_turns(draw: st.DrawFn) -> list[Message]:
    return [draw(asked), *draw(replies)]


# Messages of any shape ----------------------------------------------------------------------------------------------

any_character = st.characters(codec=None, exclude_categories=())
"""Lone surrogates, NUL and all."""

LIMITS = (40, 512, 8192)
"""Where a text changes its place: a hole in JSON, compressed in the row, a blob."""


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    """A text whose length is near a limit, in characters or in bytes, and which compresses or does not."""
    size = draw(st.sampled_from(LIMITS)) + draw(st.integers(-1, 1))
    filler = draw(st.sampled_from(["a", "é", "木", "🌲", "\0", "\ud800", "ab\n", "0123456789abcdef"]))
    text = (filler * size)[:size]
    if draw(st.booleans()):
        data = text.encode("utf-8", "surrogatepass")[:size]
        text = data.decode("utf-8", "ignore") or text
    return text


texts = st.one_of(
    st.text(any_character, max_size=20),
    st.sampled_from(
        ["", "\0", "\ud800", "\udfff\ud800", "\x01", '\x01"x"', "~", "~{}", "null", "$bough", "data:", "data:,"]
    ),
    long_texts(),
)
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.one_of(texts, st.just("$bough")), inner, max_size=3),
    max_leaves=6,
)
arguments = st.one_of(
    texts,
    st.dictionaries(texts, plain_json, min_size=1, max_size=3).map(lambda value: json.dumps(value, ensure_ascii=False)),
)
data = st.one_of(
    st.binary(max_size=60), st.sampled_from([b"", b"\0", bytes(8191), bytes(8192), bytes(8193), PIXELS, b"x" * 30])
)
optional_texts = st.none() | texts


@st.composite
def media(draw: st.DrawFn) -> Media:
    kind: MediaKind = draw(st.sampled_from(["image", "audio", "video", "document"]))
    mime, name = draw(texts), draw(optional_texts)
    match draw(st.integers(0, 2)):
        case 0:
            return Media(kind, mime, data=draw(data), name=name)
        case 1:
            return Media(kind, mime, url=draw(texts), name=name)
    return Media(kind, mime, file_id=draw(texts), name=name)


others = st.builds(Other, texts, plain_json)
inside_results: st.SearchStrategy[Text | Media | Other] = st.one_of(st.builds(Text, texts), media(), others)
results = st.builds(
    ToolResult, texts, st.lists(inside_results, max_size=3).map(tuple), error=st.booleans(), name=optional_texts
)
blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts),
    st.builds(ToolCall, texts, texts, arguments),
    results,
    media(),
    others,
)


def contents(block: Block) -> list[Any]:
    """What JSON that came with a block may repeat of it."""
    match block:
        case Text() | Thinking():
            return [block.text]
        case ToolCall():
            try:
                return [block.arguments, json.loads(block.arguments)]
            except (ValueError, RecursionError):
                return [block.arguments]
        case ToolResult():
            return [item for part in block.content for item in contents(part)]
        case Media(data=bytes() as held):
            encoded = base64.b64encode(held).decode()
            return [encoded, f"data:{block.mime},{encoded}", f"data:,{encoded}", f"data:{encoded}", {"$bytes": encoded}]
        case Media():
            return [block.url or block.file_id]
        case Other():
            return []


def beside(message_blocks: list[Block]) -> st.SearchStrategy[Any]:
    """JSON of any shape that may repeat anything of these blocks, and may look like the store's own notation."""
    held = [item for block in message_blocks for item in contents(block)]
    repeated = st.sampled_from(held) if held else st.nothing()
    signs = st.sampled_from([{"$bough": [0]}, {"$bough": [0, "json"]}, {"$bytes": "AAAA"}, {"$bough": None}])
    leaves = st.one_of(repeated, repeated, plain_json, signs)
    return st.one_of(
        st.none(),
        leaves,
        st.lists(leaves, max_size=4),
        st.dictionaries(st.sampled_from(["text", "type", "input", "source", "$bytes"]), leaves, max_size=4),
        st.dictionaries(texts, st.lists(leaves, max_size=2), max_size=2),
    )


@st.composite
def messages(draw: st.DrawFn, sizes: tuple[int, int] = (0, 4)) -> Message:
    """Any message: every kind of block, with JSON beside each and around all."""
    bare_blocks = draw(st.lists(blocks, min_size=sizes[0], max_size=sizes[1]))
    json_values = beside(bare_blocks)
    role: Role = draw(st.sampled_from(ROLES))
    return Message(
        role,
        tuple(draw(dressed(block, json_values)) for block in bare_blocks),
        draw(st.booleans()),
        draw(json_values),
    )


@st.composite
def dressed(draw: st.DrawFn, block: Block, json_values: st.SearchStrategy[Any]) -> Block:
    """A block with something beside it; the parts of a result too."""
    extra = draw(json_values)
    if isinstance(block, Other):
        return replace(block, extra=extra)
    raw = draw(json_values)
    if isinstance(block, ToolResult):
        parts = tuple(draw(dressed(part, json_values)) for part in block.content)
        return replace(block, extra=extra, raw=raw, content=parts)
    return replace(block, extra=extra, raw=raw)


labels = st.none() | texts
