"""Agent trajectories (ATIF 1.7) for benchmarks and training: one dialog as numbered steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bough.exporters.headings import encodable
from bough.exporters.types import ExportedConversation, describe
from bough.model import Block, Message, Node, Text, Thinking, ToolCall, ToolResult, TurnInfo, Usage
from bough.model.times import iso

VERSION = "ATIF-v1.7"
SOURCES = {"user": "user", "assistant": "agent", "system": "system"}


class AtifExporter:
    extension = "json"

    def write(self, conversation: ExportedConversation) -> Iterator[str]:
        yield json.dumps(trajectory(conversation), ensure_ascii=False, indent=2) + "\n"


def trajectory(conversation: ExportedConversation) -> dict[str, Any]:
    session = next((info for info in conversation.sessions if info.head_id == conversation.head), None)
    agent = {
        "name": (session and session.agent) or "bough",
        "version": "unknown",  # required by the format, and not stored
        "model_name": last_model(conversation),
    }
    return pruned({
        "schema_version": VERSION,
        "session_id": session.key if session else conversation.head,
        "agent": pruned(agent),
        "steps": steps(conversation),
        "final_metrics": final_metrics(conversation),
        "extra": {"title": encodable(conversation.title), "head": conversation.head},
    })  # fmt: skip


def steps(conversation: ExportedConversation) -> list[dict[str, Any]]:
    """One step per message; tool results are observations of the step that called the tool."""
    made: list[dict[str, Any]] = []
    for node in conversation.path:
        results = [result for result in node.message.results if attach_result(made, result)]
        if node.role != "tool_result" or len(results) < len(node.message.results):
            made.append(step(node, conversation, len(made) + 1))
    return made


def attach_result(made: list[dict[str, Any]], result: ToolResult) -> bool:
    """Add a result to the latest step of the agent; False if that step has no call of this id."""
    caller = next((one for one in reversed(made) if one["source"] == "agent"), None)
    calls = {call["tool_call_id"] for call in (caller or {}).get("tool_calls", ())}
    if caller is None or result.call_id not in calls:
        return False
    observation = caller.setdefault("observation", {"results": []})
    observation["results"].append({"source_call_id": result.call_id, "content": result_text(result)})
    return True


def step(node: Node, conversation: ExportedConversation, number: int) -> dict[str, Any]:
    message, turn = node.message, conversation.turns.get(node.turn_id or "")
    made: dict[str, Any] = {
        "step_id": number,
        "timestamp": iso(node.created_at),
        "source": SOURCES.get(node.role, "system"),
        "message": words(message),
        "extra": pruned({"id": node.id, "label": node.label, "kind": None if node.kind == "message" else node.kind}),
    }
    if node.role == "assistant":
        made |= pruned({
            "model_name": turn.model if turn else None,
            "reasoning_content": reasoning(message) or None,
            "tool_calls": [tool_call(call.call_id, call.name, call.arguments) for call in message.calls] or None,
            "metrics": metrics(conversation.turn_ending_at(node)),
        })  # fmt: skip
    return made


def reasoning(message: Message) -> str:
    return "\n".join(encodable(block.text) for block in message.blocks if isinstance(block, Thinking))


def words(message: Message) -> str:
    """The text of a message without reasoning and tool calls, which have fields of their own."""
    blocks = [block for block in message.blocks if not isinstance(block, (Thinking, ToolCall))]
    pieces = [result_text(block) if isinstance(block, ToolResult) else piece(block) for block in blocks]
    return "\n".join(pieces)


def result_text(result: ToolResult) -> str:
    return "\n".join(map(piece, result.content))


def piece(block: Block) -> str:
    return encodable(block.text) if isinstance(block, Text) else f"[{describe(block)}]"


def tool_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        parsed = None
    return {
        "tool_call_id": call_id,
        "function_name": name,
        "arguments": parsed if isinstance(parsed, dict) else {"input": arguments},  # the format requires an object
    }


def metrics(turn: TurnInfo | None) -> dict[str, Any] | None:
    """The metrics of a turn, for its last step: usage is stored per turn."""
    usage = turn.usage if turn else Usage()
    return (
        pruned(
            {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "cached_tokens": usage.cached_tokens,
                "cost_usd": usage.cost,
            }
        )
        or None
    )


def final_metrics(conversation: ExportedConversation) -> dict[str, Any]:
    turns = [turn for node in conversation.path if (turn := conversation.turn_ending_at(node))]
    usage = sum((turn.usage for turn in turns), Usage())
    return pruned(
        {
            "total_prompt_tokens": usage.input_tokens,
            "total_completion_tokens": usage.output_tokens,
            "total_cached_tokens": usage.cached_tokens,
            "total_cost_usd": usage.cost,
            "total_steps": len(steps(conversation)),
        }
    )


def last_model(conversation: ExportedConversation) -> str | None:
    turns = (conversation.turns.get(node.turn_id or "") for node in reversed(conversation.path))
    return next((turn.model for turn in turns if turn and turn.model), None)


def pruned(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without unknown values: an unknown number is omitted, and not 0."""
    return {name: value for name, value in fields.items() if value not in (None, {})}


EXPORTER = AtifExporter()
