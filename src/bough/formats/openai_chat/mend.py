"""Changes to Chat messages that a server would refuse: its own, and those of another server of the same family."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

from bough.formats.encoder import EMPTY, own
from bough.formats.mending import Mender, MendMessage, limit_markers, without_shell
from bough.formats.openai_chat.decode import FAMILY, IMAGES, REASONING
from bough.formats.openai_chat.rules import MAX_CACHE_MARKERS
from bough.formats.servers import ServerDialect, fits_call_id, refused_reasoning
from bough.formats.tool_ids import fit
from bough.formats.types import Loss, Mended, Recipient
from bough.model import Block, Json, Media, Message, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace

REPLY_ONLY = ("parsed", IMAGES)
"""Fields of a message that an SDK or a server adds to a reply."""


def mend(messages: Sequence[Message], target: Recipient) -> Mended:
    mender = Mender(FAMILY)
    mended = mender.run(messages, _ChatMender(target.server).mend_block, _message_mender(target.server))
    if target.server is not None and not target.server.user_after_result:
        mended = Mended(_with_replies(mended.messages, mender))
    limited = limit_markers(mended.messages, mender, "prompt_cache_breakpoint", MAX_CACHE_MARKERS)
    return Mended(limited, tuple(mender.losses))


def _with_replies(messages: Sequence[Message], mender: Mender) -> tuple[Message, ...]:
    """The messages, with a placeholder of the assistant after results that no reply follows.

    It is in the message of the results, whose envelope is that of the placeholder: all messages keep their places.
    """
    kept = list(messages)
    for place, (message, after) in enumerate(pairwise(messages)):
        if message.role == "tool_result" and after.role in ("user", "system"):
            mender.losses.append(Loss("blank_replaced", "a placeholder between results and the user", place))
            shell = {FAMILY: {"role": "assistant", "content": ""}}
            kept[place] = replace(message, blocks=(*message.blocks, Text(EMPTY)), envelope=shell)
    return tuple(kept)


class _ChatMender:
    """Mends blocks for one server; a result gets the id of its call."""

    def __init__(self, server: ServerDialect | None) -> None:
        self._server = server
        self._ids: dict[str, str] = {}
        self._taken: dict[str, str] = {}
        """The stored id of each id that is sent."""

    def mend_block(self, block: Block, mender: Mender) -> Block | None:
        match block:
            case Thinking():
                return self._reasoning(block, mender)
            case ToolCall():
                return self._call(block, mender)
            case ToolResult():
                return self._result(block, mender)
            case Media() if IMAGES in mender.own(block):
                return None  # with the field, which only replies have
            case Text() if "audio" in (item := mender.own(block)) and mender.message.role == "assistant":
                return _audio(block, item, mender)
        return block

    def _reasoning(self, block: Thinking, mender: Mender) -> Block | None:
        item = mender.own(block)
        server = self._server
        if server is None or not item:
            return block  # that of another family is left out by the encoder
        refused = item.get("type") == "thinking" and not server.parts
        refused = refused or bool(refused_reasoning(server, tuple(item)) and "type" not in item)
        if refused or (server.reasoning_in_turn and not mender.message.calls):
            mender.lose("dropped_thinking", f"{server.name} does not take {', '.join(item)} back")
            return None
        return block

    def _call(self, block: ToolCall, mender: Mender) -> Block | None:
        item = mender.own(block)
        if "function_call" in item:
            return self._function_call(block, mender)
        call_id = self._fitted(block.call_id)
        self._ids[block.call_id] = call_id
        if item and item.get("id") != call_id:
            if not item.get("id"):
                mender.lose("field_supplied", f"the id of the call of {block.name!r}")
            item = {**item, "id": call_id}
        kind = "custom" if item.get("type") == "custom" else "function"
        if item and kind == "function" and not isinstance(item[kind].get("arguments"), str):
            mender.lose("field_supplied", f"the arguments of {block.name!r}")
            item = {**item, kind: {**item[kind], "arguments": block.arguments or "{}"}}
        if item and isinstance(item.get(kind), dict) and "parsed_arguments" in item[kind]:
            mender.lose("reply_only_field", "parsed_arguments")
            item = {**item, kind: {key: one for key, one in item[kind].items() if key != "parsed_arguments"}}
        changed = block if block.call_id == call_id else replace(block, call_id=call_id)
        return mender.with_item(changed, item) if item and item is not mender.own(block) else changed

    def _function_call(self, block: ToolCall, mender: Mender) -> Block | None:
        others = [call for call in mender.message.calls if "function_call" not in mender.own(call)]
        if others or not block.name:
            mender.lose("reply_only_field", "function_call beside tool_calls")
            return None
        return block

    def _result(self, block: ToolResult, mender: Mender) -> Block:
        item = mender.own(block)
        call_id = self._ids.get(block.call_id, block.call_id)
        has_images = isinstance(item.get("content"), list) and any(isinstance(part, Media) for part in block.content)
        if has_images and self._server and not self._server.images_in_results:
            return replace(block, call_id=call_id, raw=None)  # the encoder describes them
        if item and item.get("role") == "tool" and item.get("tool_call_id") != call_id:
            return mender.with_item(replace(block, call_id=call_id), {**item, "tool_call_id": call_id})
        return block if block.call_id == call_id else replace(block, call_id=call_id)

    def _fitted(self, call_id: str) -> str:
        """The id that the server accepts; another id stays another one."""
        server = self._server
        if server is None:
            return call_id
        sent, again = call_id, 0
        while not fits_call_id(server, sent) or self._taken.get(sent, call_id) != call_id:
            sent = _derived(f"{call_id} {again}" if again else call_id, server)
            again += 1
        self._taken[sent] = call_id
        return sent


def _derived(call_id: str, server: ServerDialect) -> str:
    """An id that the server accepts, from one that it does not."""
    allowed, limit = server.call_id
    if not server.exact:
        return fit(call_id, allowed, limit)
    return blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=limit).hexdigest()[:limit]


def _audio(block: Text, item: dict[str, Json], mender: Mender) -> Block:
    """A reply in audio is sent back by its id alone; without an id, as its transcript."""
    audio = item["audio"]
    if not isinstance(audio, dict) or not audio.get("id"):
        return replace(block, raw=None)
    if audio.keys() != {"id"}:
        mender.lose("reply_only_field", f"{', '.join(key for key in audio if key != 'id')} of audio")
    return mender.with_item(block, {"audio": {"id": audio["id"]}})


def _message_mender(server: ServerDialect | None) -> MendMessage:
    def mend_message(message: Message, mender: Mender) -> Message:
        message = _with_role(message, server, mender)
        shell = own(message.envelope, FAMILY)
        if message.role != "assistant" or not isinstance(shell, dict):
            return message
        return _with_content(_without_fields(message, shell, server, mender), server, mender)

    return mend_message


def _with_role(message: Message, server: ServerDialect | None, mender: Mender) -> Message:
    if server is None or message.role != "system":
        return message
    if not server.system_anywhere and mender.place > 0:
        mender.lose("system_as_user", "a system message in mid-conversation")
        return replace(without_shell(message, FAMILY), role="user")
    shell = own(message.envelope, FAMILY)
    if not server.developer and isinstance(shell, dict) and shell.get("role") == "developer":
        return _with_shell(message, {**shell, "role": "system"})
    return message


def _without_fields(message: Message, shell: dict[str, Json], server: ServerDialect | None, mender: Mender) -> Message:
    """The message without fields that only replies have, and reasoning in fields that the server does not know."""
    refused = [key for key in REPLY_ONLY if key in shell]
    if refused:
        mender.lose("reply_only_field", ", ".join(refused))
    if server is not None:
        reasoning = refused_reasoning(server, tuple(key for key in shell if key not in REASONING or shell[key]))
        if server.reasoning_in_turn and not message.calls:
            reasoning += [key for key in shell if key in server.reasoning]
        if any(shell[key] for key in reasoning):
            mender.lose("dropped_thinking", f"{server.name} does not take {', '.join(reasoning)} back")
        refused += reasoning
    if not message.calls and shell.get("tool_calls") is not None:
        refused.append("tool_calls")  # null and empty lists are refused
    if isinstance(call := shell.get("function_call"), dict) and not any(call.values()):
        refused.append("function_call")
    if not refused:
        return message
    return _with_shell(message, {key: value for key, value in shell.items() if key not in refused})


def _with_content(message: Message, server: ServerDialect | None, mender: Mender) -> Message:
    """The message with some content, if it has neither content nor calls."""
    shell: dict[str, Json] = message.envelope[FAMILY]
    items = [mender.own(block) for block in message.blocks]
    said = any(isinstance(block, (Text, Media)) and _says(block) for block in message.blocks)
    if said or message.calls or any("audio" in item or "refusal" in item for item in items):
        return message
    empty = "" if server is None or server.empty else EMPTY
    if not empty and isinstance(shell.get("content"), str):
        return message
    mender.lose("blank_replaced", "a reply without content")
    texts = [block for block in message.blocks if not isinstance(block, Text)]
    return _with_shell(replace(message, blocks=(*texts, Text(empty))), {**shell, "content": ""})


def _says(block: Text | Media) -> bool:
    return not isinstance(block, Text) or bool(block.text)


def _with_shell(message: Message, shell: dict[str, Json]) -> Message:
    return replace(message, envelope={**message.envelope, FAMILY: shell})
