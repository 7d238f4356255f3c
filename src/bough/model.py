"""The nouns: messages made of blocks, and the places where they stand.

Everything here is a plain immutable value. A `Message` has no identity: the same message may stand in many places.
Identity (`id`, parent, time, turn) belongs to the `Node`, and only a store makes nodes.

Every block may carry two things that bough does not interpret: `extra`, what the application or a format wants kept
beside it, and `raw`, the provider's own JSON for this block, verbatim. Both are JSON values and are never changed in
place. They are left out of a message's digest: two messages that say the same are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from bough.values import value

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, a list or a dict with string keys."""

Role: TypeAlias = Literal["user", "assistant", "tool_result", "system"]
MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]
Kind: TypeAlias = Literal["message", "summary"]
Status: TypeAlias = Literal["running", "complete", "interrupted", "failed"]

ROLES: tuple[Role, ...] = ("user", "assistant", "tool_result", "system")


@value
class Text:
    """Words."""

    text: str
    extra: Json = None
    raw: Json = None


@value
class Thinking:
    """A model's reasoning. The text may be empty when the provider sent only a sealed form, which is then in `raw`."""

    text: str
    extra: Json = None
    raw: Json = None


@value
class ToolCall:
    """A request to run a tool. `arguments` is the exact text that the provider sent, usually JSON."""

    call_id: str
    name: str
    arguments: str
    extra: Json = None
    raw: Json = None

    @property
    def input(self) -> Json:
        """The arguments, parsed; raises `ValueError` when they are not JSON."""
        return json.loads(self.arguments)


@value
class Media:
    """An image, a sound, a video or a document: exactly one of bytes, a URL, or a provider's file id."""

    kind: MediaKind
    mime: str
    data: bytes | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    extra: Json = None
    raw: Json = None

    def __post_init__(self) -> None:
        if sum(source is not None for source in (self.data, self.url, self.file_id)) != 1:
            raise ValueError("Media takes exactly one of data, url and file_id")


@value
class Other:
    """Something bough does not know. It is kept as it came, and given back to the provider it came from."""

    type: str
    raw: Json
    extra: Json = None


@value
class ToolResult:
    """What a tool answered to the call with the same `call_id`."""

    call_id: str
    content: tuple[Text | Media | Other, ...] = ()
    error: bool = False
    name: str | None = None
    extra: Json = None
    raw: Json = None

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block: TypeAlias = Text | Thinking | ToolCall | ToolResult | Media | Other
Part: TypeAlias = str | Block
"""What the makers accept: a string means a `Text`."""


@value
class Tool:
    """A tool that a model may call: its name, what it is for, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Json


@value
class Message:
    """A role and its blocks, in order. `envelope` is what the provider sent around the content, verbatim."""

    role: Role
    blocks: tuple[Block, ...]
    error: bool = False
    envelope: Json = None

    @property
    def text(self) -> str:
        """What was said: the text blocks, one under the other."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))


@value
class Node:
    """A message in its place."""

    id: str
    parent_id: str | None
    created_at: int
    """Microseconds since 1970, UTC; always later than the parent's."""
    message: Message
    label: str | None = None
    turn_id: str | None = None
    """The id of the first message of the turn that added it; None outside any turn."""
    digest: bytes = b""
    """A hash of this message and of everything before it on its path."""
    kind: Kind = "message"
    covers: str | None = None
    """On a summary: the id of the last node that it speaks for."""
    weight: int = 0
    """Of the whole path up to here, in estimated tokens."""

    late = "message"
    """In a node that was loaded, it is read when somebody first looks at it."""

    @property
    def role(self) -> Role:
        return self.message.role


@value
class Headline:
    """A message in an outline: where it stands, and the first words of it."""

    id: str
    parent_id: str | None
    created_at: int
    role: Role
    words: str
    """At most a few hundred characters: the text, or a call, a result, the name of a picture."""
    label: str | None = None
    turn_id: str | None = None
    kind: Kind = "message"
    status: Status | None = None
    """How its turn ended; None outside any turn."""
    sessions: tuple[str, ...] = ()
    """The keys of the sessions that stand here."""

    @property
    def is_subagents(self) -> bool:
        """Whether a subagent's run added it."""
        return self.label is not None and self.label.startswith("subagent:")


@value
class Save:
    """A message to save. `parent_id` is an id, or an earlier `Save` of the same call; None starts a new tree.

    `created_at` is for history that happened elsewhere; a time in the future, or not after the parent's, is mended.
    """

    message: Message
    parent_id: str | Save | None = None
    label: str | None = None
    created_at: int | None = None

    __eq__ = object.__eq__
    __hash__ = object.__hash__


@value
class Usage:
    """Tokens and cost in US dollars. What is unknown is None, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        def total(mine: Any, theirs: Any) -> Any:
            return theirs if mine is None else mine if theirs is None else mine + theirs

        return Usage(
            total(self.input_tokens, other.input_tokens),
            total(self.output_tokens, other.output_tokens),
            total(self.cached_tokens, other.cached_tokens),
            total(self.reasoning_tokens, other.reasoning_tokens),
            total(self.cost, other.cost),
        )


@value
class Totals:
    """The sum over some turns. `name` is what they have in common: a session's key, a model, a day."""

    name: str | None
    turns: int
    usage: Usage
    unpriced: int
    """How many of these turns have no known cost."""


@value
class TurnInfo:
    """What is known of one turn: where it stands, how it ended, and how its replies came about."""

    id: str
    session: str | None
    """None when the session was deleted and its messages live on in others."""
    status: Status
    parent_id: str | None
    last_id: str
    usage: Usage = Usage()
    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    idempotency_key: str | None = None
    instructions_digest: bytes | None = None
    caller_id: str | None = None
    """The message that delegated this turn, and the call in it."""
    caller_call: str | None = None
    error: str | None = None
    metadata: Json = None
    started_at: int = 0
    first_token_at: int | None = None
    finished_at: int | None = None
    context_tokens: int | None = None
    """The size of the dialog after its last reply, as the provider counted it."""


@value
class SessionInfo:
    """One row of the list of sessions."""

    key: str
    channel: str | None
    channel_id: str | None
    head_id: str | None
    revision: int
    """Counts the moves of the head."""
    directory: str | None = None
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    parent_key: str | None = None
    parent_message_id: str | None = None
    forked_from: str | None = None
    extra: Json = None
    created_at: int = 0
    updated_at: int = 0
    cursor: int = 0
    """Pass it as `before=` to continue a list after this session."""


@value
class ExternalName:
    """What others call a message or a session; nothing behind it when that was deleted."""

    kind: str
    value: str
    message_id: str | None = None
    session: str | None = None


@value
class Hit:
    """A message that a search found, with the words around the first match and the session whose turn said it."""

    node: Node
    snippet: str
    session: str | None = None
    path: tuple[str, ...] = ()
    """The ids from the root to the message, when `paths=True` was asked."""


@value
class TrashEntry:
    """What one deletion removed."""

    id: str
    deleted_at: int
    reason: str
    messages: int
    sessions: tuple[str, ...] = ()


@value
class Size:
    """How much a store holds. `subagent_runs` are the trees that subagents began, and count among the trees."""

    messages: int
    trees: int
    subagent_runs: int
    sessions: int
    turns: int
    trashed: int
    """Entries in the trash."""


@value
class Finding:
    """One thing that `verify()` found wrong."""

    code: str
    subject: str
    detail: str
    repaired: bool = False


def blocks_of(parts: Iterable[Part]) -> tuple[Block, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def user(*parts: Part) -> Message:
    """A message from the user."""
    return Message("user", blocks_of(parts))


def assistant(*parts: Part) -> Message:
    """A message from the model: words, thinking, tool calls."""
    return Message("assistant", blocks_of(parts))


def system(*parts: Part) -> Message:
    """A note in mid-conversation. System prompts are not messages: an application rebuilds them."""
    return Message("system", blocks_of(parts))


def tool_call(call_id: str, name: str, arguments: Json = "{}") -> ToolCall:
    """A call, as a block of an assistant's message. A string is kept as it is, any other JSON value is written out."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call_id, name, text)


def tool_result(call_id: str, content: str | Sequence[str | Text | Media | Other] = "", error: bool = False) -> Message:
    """The message that answers one call."""
    parts = (content,) if isinstance(content, str) else tuple(content)
    blocks = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Message("tool_result", (ToolResult(call_id, blocks, error),), error)
