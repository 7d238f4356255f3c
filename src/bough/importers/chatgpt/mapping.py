"""Build the tree of a ChatGPT conversation from its mapping: unordered nodes with parents, all branches included."""

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


def message_id(node_id: str, conversation: str) -> str:
    """The node's id if it is unique; `client-created-root` and the like are in every conversation."""
    return node_id if _UUID.fullmatch(node_id) else f"{conversation}:{node_id}"


class Mapping:
    """The nodes of one conversation. A node without content is left out: its children follow its parent."""

    def __init__(self, conversation: str, nodes: Json, place: str, assets: Assets) -> None:
        self._conversation = conversation
        self._place = place
        self._assets = assets
        self._malformed: dict[str, Json] = {}
        self._nodes: Nodes = {}
        for node_id, node in (nodes if isinstance(nodes, dict) else {}).items():
            (self._nodes if isinstance(node, dict) else self._malformed)[node_id] = node
        self._message_ids: dict[str, str | None] = {}
        self._calls: dict[str, str] = {}
        """The id of the call that a node makes or answers, for the results below it."""

    def head(self, node_id: Json) -> str | None:
        """The id of the current message: the node, or its nearest ancestor with content."""
        seen: set[str] = set()
        while isinstance(node_id, str) and node_id in self._nodes and node_id not in seen:
            if self._has_content(node_id):
                return message_id(node_id, self._conversation)
            seen.add(node_id)
            node_id = self._nodes[node_id].get("parent")
        return None

    def items(self) -> Iterator[Item]:
        for node_id, node in self._malformed.items():
            yield Skipped(f"{self._place}.mapping.{node_id}", "The node is not an object.", node)
        parents = {node_id: text_or_none(node.get("parent")) for node_id, node in self._nodes.items()}
        for node_id, parent in parents_first(parents):
            node = self._nodes[node_id]
            parent_id = self._message_ids.get(parent) if parent else None
            imported = self._message(node_id, node, parent, parent_id)
            self._message_ids[node_id] = imported.id if imported else parent_id
            if imported:
                yield imported

    def _has_content(self, node_id: str) -> bool:
        message = self._nodes[node_id].get("message")
        return isinstance(message, dict) and read_message(message, node_id, None, self._assets) is not None

    def _message(
        self, node_id: str, node: dict[str, Json], parent: str | None, parent_id: str | None
    ) -> ImportedMessage | None:
        message = node.get("message")
        call = self._calls.get(parent) if parent else None
        decoded = read_message(message, node_id, call, self._assets) if isinstance(message, dict) else None
        if decoded is None or not isinstance(message, dict):
            if call:
                self._calls[node_id] = call
            return None
        if decoded.calls:
            self._calls[node_id] = node_id
        elif decoded.role == "tool_result" and call:
            self._calls[node_id] = call
        metadata = message.get("metadata")
        cut = message.get("status") == "in_progress" or at(metadata, "finish_details", "type") in CUT_SHORT
        is_reply = decoded.role == "assistant"
        return ImportedMessage(
            message_id(node_id, self._conversation),
            decoded,
            parent_id,
            from_seconds(message.get("create_time")),
            model=text_or_none(at(metadata, "model_slug")) if is_reply else None,
            provider="openai" if is_reply else None,
            request_id=text_or_none(at(metadata, "request_id")) if is_reply else None,
            finished=not (is_reply and cut),
        )
