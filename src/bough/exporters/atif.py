"""Agent trajectories (ATIF 1.7) for benchmarks and training: one dialog as numbered steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bough.exporters.headings import iso, shown
from bough.exporters.types import Exported, described
from bough.model import Block, Message, Node, Text, Thinking, ToolCall, ToolResult, TurnInfo, Usage

VERSION = "ATIF-v1.7"
SOURCES = {"user": "user", "assistant": "agent", "system": "system"}


class Atif:
    extension = "json"

    def write(self, told: Exported) -> Iterator[str]:
        yield json.dumps(trajectory(told), ensure_ascii=False, indent=2) + "\n"


def trajectory(told: Exported) -> dict[str, Any]:
    session = next((info for info in told.sessions if info.head_id == told.head), None)
    agent = {"name": (session and session.agent) or "bough", "version": "unknown", "model_name": last_model(told)}
    return pruned({
        "schema_version": VERSION,
        "session_id": session.key if session else told.head,
        "agent": pruned(agent),
        "steps": steps(told),
        "final_metrics": final_metrics(told),
        "extra": {"title": shown(told.title), "head": told.head},
    })  # fmt: skip


def steps(told: Exported) -> list[dict[str, Any]]:
    """One step for each message; what tools answered is observed in the step that called them."""
    made: list[dict[str, Any]] = []
    for node in told.path:
        results = [result for result in node.message.results if observed(made, result)]
        if node.role != "tool_result" or len(results) < len(node.message.results):
            made.append(step(node, told, len(made) + 1))
    return made


def observed(made: list[dict[str, Any]], result: ToolResult) -> bool:
    """Whether the newest agent's step has called for this result; then it has it now."""
    caller = next((one for one in reversed(made) if one["source"] == "agent"), None)
    calls = {call["tool_call_id"] for call in (caller or {}).get("tool_calls", ())}
    if caller is None or result.call_id not in calls:
        return False
    observation = caller.setdefault("observation", {"results": []})
    observation["results"].append({"source_call_id": result.call_id, "content": answer(result)})
    return True


def step(node: Node, told: Exported, number: int) -> dict[str, Any]:
    message, turn = node.message, told.turns.get(node.turn_id or "")
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
            "tool_calls": [called(call.call_id, call.name, call.arguments) for call in message.calls] or None,
            "metrics": metrics(told.closing(node)),
        })  # fmt: skip
    return made


def reasoning(message: Message) -> str:
    return "\n".join(shown(block.text) for block in message.blocks if isinstance(block, Thinking))


def words(message: Message) -> str:
    """Everything that was said but reasoning and calls, which have their own fields."""
    said = [block for block in message.blocks if not isinstance(block, (Thinking, ToolCall))]
    pieces = [answer(block) if isinstance(block, ToolResult) else piece(block) for block in said]
    return "\n".join(pieces)


def answer(result: ToolResult) -> str:
    return "\n".join(map(piece, result.content))


def piece(block: Block) -> str:
    return shown(block.text) if isinstance(block, Text) else f"[{described(block)}]"


def called(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        parsed = None
    return {
        "tool_call_id": call_id,
        "function_name": name,
        "arguments": parsed if isinstance(parsed, dict) else {"input": arguments},
    }


def metrics(turn: TurnInfo | None) -> dict[str, Any] | None:
    """Of a whole turn, on its last step: providers' counts are kept by turn."""
    u = turn.usage if turn else Usage()
    return (
        pruned(
            {
                "prompt_tokens": u.input_tokens,
                "completion_tokens": u.output_tokens,
                "cached_tokens": u.cached_tokens,
                "cost_usd": u.cost,
            }
        )
        or None
    )


def final_metrics(told: Exported) -> dict[str, Any]:
    turns = [turn for node in told.path if (turn := told.closing(node))]
    u = sum((turn.usage for turn in turns), Usage())
    return pruned(
        {
            "total_prompt_tokens": u.input_tokens,
            "total_completion_tokens": u.output_tokens,
            "total_cached_tokens": u.cached_tokens,
            "total_cost_usd": u.cost,
            "total_steps": len(steps(told)),
        }
    )


def last_model(told: Exported) -> str | None:
    turns = (told.turns.get(node.turn_id or "") for node in reversed(told.path))
    return next((turn.model for turn in turns if turn and turn.model), None)


def pruned(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what is not known: an unknown number is left out, never zero."""
    return {name: value for name, value in fields.items() if value not in (None, {})}


EXPORTER = Atif()
