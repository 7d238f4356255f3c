"""The chat store of LlamaIndex over a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import ChatMessage
from llama_index.core.storage.chat_store.base import BaseChatStore

from bough.adapters.common import json_call, key_of, open_store
from bough.model import Block, Json, Message, Other, Role, Text, Thinking, ToolResult, tool_call
from bough.session import Session
from bough.store import Store

KEPT = "llama-index"
ROLES: dict[str, Role] = {
    "assistant": "assistant", "chatbot": "assistant", "model": "assistant", "tool": "tool_result",
    "function": "tool_result", "system": "system", "developer": "system",
}  # fmt: skip


class BoughChatStore(BaseChatStore):
    """Chats in a store: each is the session of its key, and a message is a node.

    `where` is a file, `:memory:`, or the URL of a server; without it, the default store. `store` is one that is open
    already. A list that is set again is stored where it differs, as a branch; what it was stays.
    """

    where: str | None = None
    _store: Any = PrivateAttr()
    _owned: bool = PrivateAttr()

    def __init__(self, where: Any = None, *, store: Store | None = None, **data: Any) -> None:
        super().__init__(where=None if where is None else str(where), **data)
        self._store, self._owned = open_store(where, store)

    @classmethod
    def class_name(cls) -> str:
        return "BoughChatStore"

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self._store.close()

    def set_messages(self, key: str, messages: list[Any]) -> None:
        """Makes these the messages of a key."""
        session, given = self._store.session(key_of(key)), [dump(message) for message in messages]
        path = session.path()
        same = 0
        for node, whole in zip(path, given, strict=False):
            if dump(restored(node.message)) != whole:
                break
            same += 1
        at = path[same - 1].id if same else None
        if given[same:]:
            session.append([message_of(whole) for whole in given[same:]], at=at)
        elif session.head != at:
            session.move(at)

    def get_messages(self, key: str) -> list[Any]:
        """The messages of a key."""
        session = self._found(key)
        return [] if session is None else [restored(node.message) for node in session.path()]

    def add_message(self, key: str, message: Any) -> None:
        """Adds a message."""
        self._store.session(key_of(key)).append([message_of(dump(message))])

    def delete_messages(self, key: str) -> list[Any] | None:
        """Deletes a key and gives its messages; None if there is none."""
        if self._found(key) is None:
            return None
        messages = self.get_messages(key)
        self._store.delete_session(key_of(key))
        return messages

    def delete_message(self, key: str, idx: int) -> Any:
        """Takes one message out, and gives it; None if there is none. What follows it is stored again, as a branch."""
        messages = self.get_messages(key)
        if not -len(messages) <= idx < len(messages):
            return None
        taken = messages.pop(idx)
        self.set_messages(key, messages)
        return taken

    def delete_last_message(self, key: str) -> Any:
        """Takes the last message off, and gives it; None if there is none."""
        session = self._found(key)
        node = session.pop() if session is not None else None
        return None if node is None else restored(node.message)

    def get_keys(self) -> list[str]:
        """The keys of all sessions but those of delegates."""
        return [info.key for info in self._store.sessions(delegates=False)]

    def _found(self, key: str) -> Session | None:
        name = key_of(key)
        return None if self._store.find_session(name) is None else self._store.session(name)


def dump(message: Any) -> Json:
    return message.model_dump(mode="json")


def message_of(whole: Json) -> Message:
    """A message of the tree; the envelope has the whole message."""
    role = ROLES.get(whole["role"], "user")
    more = whole.get("additional_kwargs") or {}
    blocks: list[Block] = [block_of(one) for one in whole["blocks"]]
    if role == "tool_result":
        texts = tuple(block for block in blocks if isinstance(block, Text))
        blocks = [ToolResult(str(more.get("tool_call_id") or ""), texts, name=more.get("name"))]
    for call in more.get("tool_calls") or ():
        asked = call.get("function", call) if isinstance(call, dict) else {}
        if "name" in asked:
            blocks.append(tool_call(str(call.get("id") or ""), asked["name"], asked.get("arguments") or "{}"))
    return Message(role, tuple(blocks) or (Text(""),), envelope={KEPT: whole})


def block_of(whole: Json) -> Block:
    kind = whole["block_type"]
    if kind == "text":
        return Text(whole["text"])
    if kind == "thinking":
        return Thinking(whole.get("content") or "")
    if kind == "tool_call":
        arguments = whole.get("tool_kwargs") or {}
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        return tool_call(str(whole.get("tool_call_id") or ""), whole["tool_name"], text)
    return Other(str(kind), None)


def restored(message: Message) -> Any:
    """The message of LlamaIndex; converted if another program added it."""
    if isinstance(message.envelope, dict) and KEPT in message.envelope:
        return ChatMessage.model_validate(message.envelope[KEPT])
    if message.role == "tool_result":
        result = message.results[0]
        return ChatMessage(role="tool", content=result.text, additional_kwargs={"tool_call_id": result.call_id})
    blocks: list[Json] = [{"block_type": "text", "text": message.text}] if message.text else []
    blocks += tool_blocks(message)
    return ChatMessage.model_validate({"role": message.role, "blocks": blocks})


def tool_blocks(message: Message) -> Sequence[Json]:
    blocks = []
    for call in message.calls:
        about = {"tool_call_id": call.call_id, "tool_name": call.name, "tool_kwargs": json_call(call)}
        blocks.append({"block_type": "tool_call", **about})
    return blocks
