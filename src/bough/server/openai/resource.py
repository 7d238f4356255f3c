"""The response object: what a turn is for a client of this API.

A response is a turn, known by the external name of its first message. The turn's metadata has what only the response
has: its parameters, its usage as the provider counted it, why it is incomplete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bough.model import Json, Node, Status, Usage
from bough.model.values import value
from bough.server.openai.items import message_items
from bough.server.openai.parameters import DEFAULTS, ResponseRequest

if TYPE_CHECKING:
    from bough.model import TurnInfo
    from bough.store import Store

KIND = "openai.response"
"""The kind of the external names of responses."""
RECORD = "response"
"""The field of a turn's metadata with the record of the response."""
EVENTS = "response_events"
"""That with the events of a background response that was streamed."""
STATUSES: dict[Status, str] = {
    "running": "in_progress", "complete": "completed", "stopped": "cancelled", "failed": "failed",
    "interrupted": "failed",
}  # fmt: skip
CUT_OFF = "The response was cut off: its client went away, or the server stopped. Create it again."


@value
class StoredResponse:
    """A response as it is stored."""

    id: str
    turn: TurnInfo
    record: dict[str, Any]

    @property
    def is_running(self) -> bool:
        """Whether it is still being written."""
        return self.turn.status == "running"


def find(store: Store, id: str) -> StoredResponse | None:
    """The response with this id, or None. A turn whose writer died is no longer running."""
    message = store.find_external(KIND, id)
    if message is None:
        return None
    turn = store.turn_info(message)
    if turn.status == "running" and turn.session is not None:
        unfinished = {left.id: left for left in store.session(turn.session).unfinished}
        turn = unfinished.get(turn.id, turn)
    metadata = turn.metadata if isinstance(turn.metadata, dict) else {}
    return StoredResponse(id, turn, dict(metadata.get(RECORD) or {}))


def new_record(id: str, request: ResponseRequest, created_at: int, model: str) -> dict[str, Any]:
    """What is stored of a response when it is begun: only the parameters that differ from the default."""
    echo = {key: one for key, one in request.echo.items() if one != DEFAULTS[key]}
    conversation = {} if request.conversation is None else {"conversation": request.conversation}
    return {"id": id, "created_at": created_at, "model": model, "inputs": len(request.messages), **conversation,
            "echo": echo}  # fmt: skip


def resource(record: dict[str, Any], status: str, output: Sequence[Json] = ()) -> dict[str, Json]:
    """The response object, with every key. `status` is that of the API."""
    conversation = record.get("conversation")
    reason = record.get("incomplete")
    return {
        "id": record["id"],
        "object": "response",
        "created_at": record["created_at"],
        "status": "incomplete" if status == "completed" and reason else status,
        "completed_at": record.get("completed_at") if status == "completed" else None,
        "error": record.get("error"),
        "incomplete_details": {"reason": reason} if reason else None,
        "model": record["model"],
        "output": list(output),
        "usage": record.get("usage"),
        "conversation": None if conversation is None else {"id": conversation},
        **DEFAULTS,
        **record["echo"],
    }


def stored_resource(store: Store, found: StoredResponse, include: Sequence[str] = ()) -> dict[str, Json]:
    """The response object of a stored response."""
    record, turn = found.record, found.turn
    status = STATUSES[turn.status]
    if status == "failed" and "error" not in record:
        record = {**record, "error": error_of(CUT_OFF if turn.status == "interrupted" else turn.error or CUT_OFF)}
    return resource(record, status, output_of(store, found, include))


def output_of(store: Store, found: StoredResponse, include: Sequence[str]) -> list[dict[str, Json]]:
    """The items that a response has added."""
    inputs = max(1, found.record.get("inputs", 1))
    if found.record.get("outputs"):
        nodes = store.path(found.turn.last_id, last=1)
    else:
        nodes = [node for node in store.path(found.turn.last_id, last=inputs + 1) if node.turn_id == found.turn.id]
        nodes = nodes[inputs:]
    return [item for node in nodes for item in message_items(node.message, node.id, include)]


def input_nodes(store: Store, found: StoredResponse) -> list[Node]:
    """The messages that a response answers: the dialog before its turn, and the input."""
    path = store.path(found.turn.last_id)
    own = [place for place, node in enumerate(path) if node.turn_id == found.turn.id]
    return path[: own[0] + max(1, found.record.get("inputs", 1))] if own else path


def error_of(message: str, code: str = "server_error") -> dict[str, Json]:
    """The error of a failed response."""
    return {"code": code, "message": message}


def usage_of(usage: Usage) -> dict[str, Json] | None:
    """Usage as this API says it; None if the provider counted nothing."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": read + written,
    }


INCOMPLETE = {
    "length": "max_output_tokens", "max_tokens": "max_output_tokens", "max_output_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens", "content_filter": "content_filter",
    "refusal": "content_filter",
}  # fmt: skip
"""Why a response is incomplete, by a provider's reason to stop."""
