"""Decode and encode lists of `{role, content: [block, …]}`: the formats of Anthropic, Bedrock and Gemini.

In all three, a tool result is a block of a user message, all results of one reply are in one message, and empty text is
refused. A `Dialect` holds the differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bough.errors import FormatError
from bough.formats.content import decode_content, decode_reply_content
from bough.formats.encoder import EMPTY, JOINED, Encoder, emptied
from bough.formats.payload import as_dict, as_list
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult


@dataclass(frozen=True)
class Dialect:
    """Names of roles and fields, and functions for the blocks, of one provider."""

    family: str
    content: str
    """Key of the list of blocks."""
    roles: Mapping[Role, str]
    """Wire name of each role; tool results have the wire role of the user."""
    decode_block: Callable[[dict[str, Json], str], Block]
    encode_block: Callable[[ToolCall | ToolResult | Media, Role, Encoder], list[Json]]
    text_block: Callable[[str], dict[str, Json]]
    alternates: bool
    """Whether the provider refuses two consecutive messages of the same role."""
    older_roles: Mapping[str, Role] = field(default_factory=dict)
    """Former wire roles, which old histories still contain."""

    def role(self, name: Json, where: str) -> Role:
        """The role of a wire name. A missing one means the user, as in Gemini. Raises `FormatError`."""
        if name is None:
            return "user"
        for role, spelled in self.roles.items():
            if spelled == name:
                return role
        if isinstance(name, str) and name in self.older_roles:
            return self.older_roles[name]
        raise FormatError(f"{where} has the role {name!r}, which {self.family} does not know.")


def decode_messages(payload: Json, dialect: Dialect, where: str) -> tuple[Message, ...]:
    messages: list[Message] = []
    for position, wire in enumerate(as_list(payload, where)):
        messages += decode_message(as_dict(wire, f"{where}[{position}]"), dialect, f"{where}[{position}]")
    return tuple(messages)


def decode_message(wire: dict[str, Json], dialect: Dialect, where: str) -> list[Message]:
    """Decode a wire message into one message, or several if it has both tool results and user content."""
    role = dialect.role(wire.get("role"), where)
    blocks = decode_content(wire.get(dialect.content), f"{where}.{dialect.content}", dialect.decode_block)
    shell: Json = emptied(wire, dialect.content)
    messages = []
    for piece_role, piece in pieces(blocks, role):
        error = any(isinstance(block, ToolResult) and block.error for block in piece)
        messages.append(Message(piece_role, tuple(piece), error, {dialect.family: shell}))
        shell = JOINED
    return messages


def decode_reply(wire: dict[str, Json], dialect: Dialect, where: str) -> list[Message]:
    """Decode the message of a reply, which is never refused: malformed blocks are kept as `Other`."""
    content = wire.get(dialect.content)
    blocks = decode_reply_content(content, f"{where}.{dialect.content}", dialect.decode_block)
    shell = emptied(wire, dialect.content)
    if content is not None and not isinstance(content, list):
        shell[dialect.content] = []
    shell["role"] = dialect.roles["assistant"]
    return [Message("assistant", tuple(blocks), envelope={dialect.family: shell})]


def pieces(blocks: list[Block], role: Role) -> list[tuple[Role, list[Block]]]:
    """Split user blocks into runs of tool results and other content. Unknown blocks stay with their neighbour."""
    if role != "user":
        return [(role, blocks)]
    found: list[tuple[Role, list[Block]]] = []
    unknown: list[Block] = []
    for block in blocks:
        kind: Role = "tool_result" if isinstance(block, ToolResult) else "user"
        if isinstance(block, Other):
            (found[-1][1] if found else unknown).append(block)
        elif found and found[-1][0] == kind:
            found[-1][1].append(block)
        else:
            found.append((kind, [block]))
    if not found:
        return [("user", unknown)]
    found[0][1][:0] = unknown
    return found


def encode_messages(messages: Sequence[Message], dialect: Dialect, encoder: Encoder) -> list[Json]:
    wire_messages = _MessageEncoder(dialect, encoder)
    for message in encoder.messages(messages):
        wire_messages.add(message)
    return wire_messages.wire


class _MessageEncoder:
    def __init__(self, dialect: Dialect, encoder: Encoder) -> None:
        self.wire: list[Json] = []
        self._dialect = dialect
        self._encoder = encoder
        self._last_is_native = False

    def add(self, message: Message) -> None:
        shell = self._encoder.own(message.envelope)
        role = self._wire_role(message, shell)
        blocks = self._blocks(message)
        native = isinstance(shell, dict)
        if self._joins(role, shell, native):
            self._extend(blocks)
        elif native:
            self._append(self._filled(shell, message, blocks), apart=self._last_is_native)
        elif blocks := blocks or self._placeholder(message.role, role):
            self._append({"role": role, self._dialect.content: blocks})
        else:
            return
        self._last_is_native = native or shell == JOINED

    def _append(self, item: dict[str, Json], apart: bool = False) -> None:
        """Add a wire message, after a placeholder of the other role if the roles must alternate and would not."""
        role = item.get("role") or "user"
        if self._dialect.alternates and not apart and role != "system" and self._last_role_but_notes() == role:
            self._encoder.lose("blank_replaced", "a placeholder between two messages of one role")
            other = self._dialect.roles["user" if role == self._dialect.roles["assistant"] else "assistant"]
            self.wire.append({"role": other, self._dialect.content: [self._dialect.text_block(EMPTY)]})
        self.wire.append(item)

    def _last_role_but_notes(self) -> str | None:
        """The role of the last wire message that is not a system note."""
        return next((item.get("role") or "user" for item in reversed(self.wire) if item.get("role") != "system"), None)

    def _wire_role(self, message: Message, shell: Json) -> str:
        """The wire role: as received, or by the dialect."""
        if message.role == "system" and self._dialect.roles["system"] == "user":
            self._encoder.lose("system_as_user", "a system message in mid-conversation")
        return shell.get("role") or "user" if isinstance(shell, dict) else self._dialect.roles[message.role]

    def _joins(self, role: str, shell: Json, native: bool) -> bool:
        """Whether a message is merged into the previous wire message. Two that were received apart stay apart."""
        if not self.wire or self._last_role() != role or (native and self._last_is_native):
            return False
        return shell == JOINED or self._dialect.alternates or role == "user"

    def _last_role(self) -> str:
        return self.wire[-1].get("role") or "user"

    def _blocks(self, message: Message) -> list[Json]:
        written: list[Json] = []
        for block in self._encoder.blocks(message.blocks):
            item = self._encoder.own(block.raw)
            if item is None:
                written += self._encode(block, message.role)
            else:
                written.append(self._kept(block, item))
        return written

    def _encode(self, block: Block, role: Role) -> list[Json]:
        """Encode a block of another family from its own fields; empty if the target has no equivalent."""
        self._encoder.lose_marks(block)
        match block:
            case Text():
                # Providers refuse blank text, even in a reply of their own.
                return [self._dialect.text_block(block.text)] if block.text.strip() else []
            case Thinking():
                self._encoder.lose("dropped_thinking", "another model's reasoning")
                return []
            case Other():
                self._encoder.lose_other(block.type)
                return []
        return self._dialect.encode_block(block, role, self._encoder)

    def _kept(self, block: Block, item: Json) -> Json:
        if isinstance(block, ToolCall):
            self._encoder.ids.keep(block.call_id)
        return item

    def _extend(self, blocks: list[Json]) -> None:
        last = dict(self.wire[-1])
        content = last.get(self._dialect.content) or []
        if isinstance(content, str):
            content = [self._dialect.text_block(content)]
        last[self._dialect.content] = [*content, *blocks]
        self.wire[-1] = last

    def _filled(self, shell: dict[str, Json], message: Message, blocks: list[Json]) -> dict[str, Json]:
        """The wire message as received, with its blocks filled in."""
        key = self._dialect.content
        if shell.get(key) == "" and len(message.blocks) == 1 and isinstance(message.blocks[0], Text):
            return {**shell, key: message.blocks[0].text}  # received as a string, so sent as one
        return {**shell, key: blocks} if blocks or shell.get(key) else dict(shell)

    def _placeholder(self, role: Role, wire_role: str) -> list[Json]:
        """A placeholder for an empty message, if roles would not alternate or the user would not begin without it."""
        spoke = self._last_role_but_notes()
        needless = spoke == wire_role or role in ("tool_result", "system")
        if needless or (role == "user" and spoke and not self._dialect.alternates):
            return []
        self._encoder.lose("blank_replaced", f"an empty message of the {role}")
        return [self._dialect.text_block(EMPTY)]
