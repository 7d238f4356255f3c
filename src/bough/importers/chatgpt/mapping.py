"""A conversation of ChatGPT: a mapping of nodes that know their parents, in no order, with all that was ever said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.formats.payload import at, text_or_none
from bough.importers.chatgpt.assets import Assets
from bough.importers.chatgpt.messages import read_message
from bough.importers.common.synthetic_ids import parents_first
from bough.importers.common.timestamps import from_seconds
from bough.model import Json
from bough.model.imported import ImportedMessage, Item, Skipped

Nodes = dict[str, dict[str, Json]]
CUT_SHORT = ("interrupted", "max_tokens")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)


def message_id(name: str, conversation: str) -> str:
    """A node's name where it is its own; `client-created-root` and the like are in every conversation."""
    return name if _UUID.fullmatch(name) else f"{conversation}:{name}"


class Mapping:
    """Tells the nodes of one conversation. One that says nothing is passed by: its children hang on its parent."""

    def __init__(self, conversation: str, nodes: Json, place: str, assets: Assets) -> None:
        self._conversation = conversation
        self._place = place
        self._assets = assets
        self._malformed: dict[str, Json] = {}
        self._nodes: Nodes = {}
        for name, node in (nodes if isinstance(nodes, dict) else {}).items():
            (self._nodes if isinstance(node, dict) else self._malformed)[name] = node
        self._parent_ids: dict[str, str | None] = {}
        self._calls: dict[str, str] = {}
        """The call that a node makes or answers, for those that answer it."""

    def head(self, name: Json) -> str | None:
        """The message where the conversation stands: the node, or the nearest above it that says something."""
        seen: set[str] = set()
        while isinstance(name, str) and name in self._nodes and name not in seen:
            if self._has_content(name):
                return message_id(name, self._conversation)
            seen.add(name)
            name = self._nodes[name].get("parent")
        return None

    def items(self) -> Iterator[Item]:
        for name, node in self._malformed.items():
            yield Skipped(f"{self._place}.mapping.{name}", "a node that is no object", node)
        parents = {name: text_or_none(node.get("parent")) for name, node in self._nodes.items()}
        for name, parent in parents_first(parents):
            node = self._nodes[name]
            parent_id = self._parent_ids.get(parent) if parent else None
            imported = self._message(name, node, parent, parent_id)
            self._parent_ids[name] = imported.id if imported else parent_id
            if imported:
                yield imported

    def _has_content(self, name: str) -> bool:
        message = self._nodes[name].get("message")
        return isinstance(message, dict) and read_message(message, name, None, self._assets) is not None

    def _message(
        self, name: str, node: dict[str, Json], parent: str | None, parent_id: str | None
    ) -> ImportedMessage | None:
        message = node.get("message")
        call = self._calls.get(parent) if parent else None
        decoded = read_message(message, name, call, self._assets) if isinstance(message, dict) else None
        if decoded is None or not isinstance(message, dict):
            if call:
                self._calls[name] = call
            return None
        if decoded.calls:
            self._calls[name] = name
        elif decoded.role == "tool_result" and call:
            self._calls[name] = call
        metadata = message.get("metadata")
        cut = message.get("status") == "in_progress" or at(metadata, "finish_details", "type") in CUT_SHORT
        is_reply = decoded.role == "assistant"
        return ImportedMessage(
            message_id(name, self._conversation),
            decoded,
            parent_id,
            from_seconds(message.get("create_time")),
            model=text_or_none(at(metadata, "model_slug")) if is_reply else None,
            provider="openai" if is_reply else None,
            request_id=text_or_none(at(metadata, "request_id")) if is_reply else None,
            finished=not (is_reply and cut),
        )
