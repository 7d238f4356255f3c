"""Resume a turn that was cut off, without running any tool call twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.agent.tool_calls import INTERRUPTED, result_message
from bough.agent.tools import Result
from bough.model import Message, Node, user

if TYPE_CHECKING:
    from bough.turn import Turn


def prepare_resume(turn: Turn, message: Message | str | None) -> None:
    """Prepare a turn for the next request, with a message of the user, if any.

    A call without a stored result may have had its effect. It is answered as interrupted, and the model decides. The
    store has set a half reply apart, so that the model answers anew.
    """
    if open_calls := turn.pending_calls():
        turn.add([result_message(call, Result.failed(INTERRUPTED)) for call in open_calls])
    if message is not None:
        turn.add(user(message) if isinstance(message, str) else message)


def is_done(node: Node) -> bool:
    """Whether a turn that ends at this node is complete, and was only not closed."""
    return node.role == "assistant" and not node.message.error and not node.message.calls
