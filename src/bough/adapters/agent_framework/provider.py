"""The history provider of Microsoft Agent Framework over a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from agent_framework import HistoryProvider
from agent_framework import Message as FrameworkMessage

from bough.adapters.common import json_call, key_of, open_store, priced, settled
from bough.model import Block, Json, Message, Other, Role, Text, Thinking, ToolResult, Usage, tool_call
from bough.store import Store

if TYPE_CHECKING:
    from bough.db import StrPath

KEPT = "agent-framework"
ROLES: dict[str, Role] = {"assistant": "assistant", "tool": "tool_result", "system": "system"}


RUN: ContextVar[dict[str, Any] | None] = ContextVar("RUN", default=None)
"""Arguments of `Session.append` about the run whose messages are saved."""


class BoughHistoryProvider(HistoryProvider):
    """Histories in a store: each is the session of that id, and a message is a node.

    `where` is a file, `:memory:`, or the URL of a server; without it, the default store. `store` is one that is open
    already. Everything else is as in the SDK.
    """

    def __init__(
        self, where: StrPath | None = None, *, store: Store | None = None, source_id: str = "bough", **options: Any
    ) -> None:
        super().__init__(source_id, **options)
        self.store, self._owned = open_store(where, store)

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    async def get_messages(self, session_id: str | None, *, state: Any = None, **kwargs: Any) -> list[Any]:  # noqa: ARG002
        """The messages of a session."""
        return await settled(self._load, named(session_id))

    async def save_messages(
        self, session_id: str | None, messages: Sequence[Any], *, state: Any = None, **kwargs: Any  # noqa: ARG002
    ) -> None:  # fmt: skip
        """Adds messages to the end of a session, all or none."""
        if messages:
            about = RUN.get() or provenance(messages)
            await settled(self._save, named(session_id), list(messages), about)

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        """Adds the messages of a run, with the tokens that all its replies took together."""
        token = RUN.set(provenance_of_run(context.response))
        try:
            await super().after_run(agent=agent, session=session, context=context, state=state)
        finally:
            RUN.reset(token)

    def _load(self, key: str) -> list[Any]:
        if self.store.find_session(key) is None:
            return []
        return [restored(node.message) for node in self.store.session(key).path()]

    def _save(self, key: str, messages: list[Any], about: dict[str, Any]) -> None:
        self.store.session(key).append([message_of(message) for message in messages], **about)


def named(session_id: str | None) -> str:
    if session_id is None:
        raise ValueError("A history in a store needs a session: pass `session=agent.create_session(…)` to the run.")
    return key_of(session_id)


def message_of(message: Any) -> Message:
    """A message of the tree; the envelope has the whole message."""
    whole = json.loads(message.to_json())
    blocks = [block for content in whole.get("contents") or () for block in blocks_of(content)]
    role = ROLES.get(str(whole.get("role")), "user")
    if role == "tool_result" and not all(isinstance(block, ToolResult) for block in blocks):
        role = "user"
    return Message(role, tuple(blocks) or (Text(""),), envelope={KEPT: whole})


def blocks_of(content: Json) -> list[Block]:
    kind = content.get("type")
    if kind == "text":
        return [Text(content.get("text") or "")]
    if kind == "text_reasoning":
        return [Thinking(content.get("text") or "")]
    if kind == "function_call":
        return [tool_call(content["call_id"], content["name"], content.get("arguments") or {})]
    if kind == "function_result":
        result = content.get("result")
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return [ToolResult(content["call_id"], (Text(text),), error=content.get("exception") is not None)]
    return [] if kind == "usage" else [Other(str(kind), None)]


def restored(message: Message) -> Any:
    """The SDK's message; converted if another program added it."""
    if isinstance(message.envelope, dict) and KEPT in message.envelope:
        return FrameworkMessage.from_dict(message.envelope[KEPT])
    contents: list[Json] = []
    for block in message.blocks:
        if isinstance(block, Text):
            contents.append({"type": "text", "text": block.text})
        elif isinstance(block, ToolResult):
            contents.append({"type": "function_result", "call_id": block.call_id, "result": block.text})
    for call in message.calls:
        contents.append(
            {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": json_call(call)}
        )
    role = "tool" if message.role == "tool_result" else message.role
    return FrameworkMessage.from_dict({"type": "message", "role": role, "contents": contents})


def provenance(messages: Sequence[Any]) -> dict[str, Any]:
    """Arguments of `Session.append` about the replies, where the SDK's client left their usage among the contents."""
    replies = [message for message in messages if str(message.role) == "assistant"]
    usages = []
    for reply in replies:
        found = [content.usage_details or {} for content in reply.contents if content.type == "usage"]
        counts = found[-1] if found else {}
        usages.append(Usage(counts.get("input_token_count"), counts.get("output_token_count")) if counts else None)
    models = [(reply.additional_properties or {}).get("model") for reply in replies]
    if not any(usages):
        return {}
    return {"usage": [usage and priced(usage, model) for usage, model in zip(usages, models, strict=True)]}


def provenance_of_run(response: Any) -> dict[str, Any]:
    """Arguments of `Session.append` about the response of a run, which counts the tokens of all its replies."""
    counts = (response and response.usage_details) or {}
    if not counts:
        return {}
    model = getattr(response.raw_representation, "model", None)
    usage = Usage(
        counts.get("input_token_count"), counts.get("output_token_count"),
        counts.get("cache_read_input_token_count"), counts.get("reasoning_output_token_count"),
    )  # fmt: skip
    return {"usage": priced(usage, model), "model": model, "request_id": response.response_id}
