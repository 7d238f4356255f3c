"""Chats of web applications and editors, and trajectories: Open WebUI, LibreChat, Cursor, Copilot, ATIF, SWE-agent."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from bough.model import Json
from tests.importers.sample import Sample, append, chop, database, halve, insert

REASONED = (
    '<details type="reasoning" done="true" duration="2">\n<summary>Thought for 2 seconds</summary>\n&gt; It is a\n'
    '&gt; branch.\n</details>\n<details type="tool_calls" done="true" id="c1" name="look_up" '
    'arguments="&quot;{\\&quot;word\\&quot;: \\&quot;bough\\&quot;}&quot;" result="&quot;a branch&quot;" files="">\n'
    "<summary>Tool Executed</summary>\n</details>\nA main branch."
)


def saved(place: Path, name: str, value: Json) -> Path:
    (place / name).write_text(json.dumps(value))
    return place / name


def web_message(id: str, parent: str | None, role: str, content: str, **more: Json) -> dict[str, Json]:
    return {"id": id, "parentId": parent, "childrenIds": [], "role": role, "content": content, **more}


def web_chat() -> dict[str, Any]:
    messages: list[dict[str, Json]] = [
        web_message("w1", None, "user", "What is a bough?", timestamp=1_750_000_000),
        web_message("w2", "w1", "assistant", REASONED, model="llama3", timestamp=1_750_000_003,
                    usage={"prompt_tokens": 11, "completion_tokens": 5}),
        web_message("w3", "w1", "assistant", "Part of a tree.", model="qwen3", timestamp=1_750_000_004,
                    usage={"prompt_eval_count": 11, "eval_count": 4}),
        web_message("w4", "w3", "user", "Big?", timestamp=1_750_000_010),
        web_message("w5", "w4", "assistant", "Yes.", model="qwen3", timestamp=1_750_000_012),
    ]  # fmt: skip
    history = {"messages": {str(one["id"]): one for one in messages}, "currentId": "w5"}
    chat = {"title": "Boughs", "models": ["llama3", "qwen3"], "history": history}
    return {"id": "chat-1", "title": "Boughs", "created_at": 1_750_000_000, "updated_at": 1_750_000_012, "chat": chat}


def open_webui(place: Path) -> Path:
    return saved(place, "chat-export.json", [web_chat()])


def open_webui_grows(path: Path) -> None:
    record = web_chat()
    history = record["chat"]["history"]
    history["messages"]["w6"] = web_message("w6", "w5", "user", "Thanks.", timestamp=1_750_000_020)
    history["messages"]["w7"] = web_message("w7", "w6", "assistant", "…", timestamp=1_750_000_021)
    history["currentId"] = "w7"
    path.write_text(json.dumps([record]))


def open_webui_database(place: Path) -> Path:
    record = web_chat()
    schema = "CREATE TABLE chat (id, user_id, title, chat, created_at, updated_at); CREATE TABLE auth (password)"
    return database(place / "webui.db", schema, chat=[{**record, "user_id": "u", "chat": json.dumps(record["chat"])}])


LIBRE_CALL: Json = {"type": "tool_call", "tool_call": {
    "id": "c1", "name": "search", "args": '{"q": "oak"}', "output": "an oak", "progress": 1}}  # fmt: skip


def libre(id: str, parent: str, **more: Json) -> dict[str, Json]:
    return {"messageId": id, "parentMessageId": parent, "createdAt": f"2026-01-0{id[1]}T10:00:00.250Z", **more}


ROOT = "00000000-0000-0000-0000-000000000000"


def libre_messages() -> list[dict[str, Any]]:
    return [
        libre("l1", ROOT, isCreatedByUser=True, sender="User", text="Find an oak."),
        libre("l2", "l1", isCreatedByUser=False, sender="Claude", model="claude-opus-4-6", tokenCount=9,
              content=[{"type": "think", "think": "hm"}, LIBRE_CALL, {"type": "text", "text": "Here is one."}]),
        libre("l3", "l1", isCreatedByUser=False, sender="GPT", model="gpt-5", text="No oak."),
        libre("l4", "l2", isCreatedByUser=True, sender="User", text="Fell it."),
        libre("l5", "l4", isCreatedByUser=False, sender="Claude", text="Never.", model="claude-opus-4-6"),
    ]  # fmt: skip


def librechat(place: Path) -> Path:
    about = {"conversationId": "libre-1", "title": "Oaks", "endpoint": "anthropic", "options": {"model": "gpt-5"}}
    return saved(place, "oaks.json", {**about, "branches": True, "recursive": False, "messages": libre_messages()})


def librechat_nested(place: Path) -> Path:
    first, second, third, fourth, fifth = libre_messages()
    fourth["children"] = [fifth]
    second["children"] = [fourth]
    first["children"] = [second, third]
    about = {"conversationId": "libre-1", "title": "Oaks", "options": {"model": "gpt-5"}}
    return saved(place, "oaks.json", {**about, "recursive": True, "messages": [first]})


def librechat_grows(path: Path) -> None:
    """Two more messages after the last one, as in an export that is made later."""
    record = json.loads(path.read_text())
    last = record["messages"][-1]
    for number, (text, by_user) in enumerate((("Why?", True), ("Because.", False))):
        last = {**last, "messageId": f"later-{number}", "parentMessageId": last["messageId"], "text": text,
                "isCreatedByUser": by_user, "content": None}  # fmt: skip
        record["messages"].append(last)
    path.write_text(json.dumps(record))


def bubble(id: str, kind: int, text: str, **more: Json) -> dict[str, Any]:
    value = {"bubbleId": id, "type": kind, "text": text, **more}
    return {"key": f"bubbleId:comp-1:{id}", "value": json.dumps(value)}


def composer(*ids: str) -> dict[str, Any]:
    headers = [{"bubbleId": id, "type": 1} for id in ids]
    value = {"composerId": "comp-1", "name": "Hedge", "createdAt": 1_760_000_000_000, "modelConfig":
             {"modelName": "composer-1"}, "fullConversationHeadersOnly": headers}  # fmt: skip
    return {"key": "composerData:comp-1", "value": json.dumps(value)}


TOOL: Json = {"toolCallId": "t1", "name": "read_file", "rawArgs": '{"path": "a"}', "result": '{"contents": "hedge"}',
              "status": "completed"}  # fmt: skip


def cursor(place: Path) -> Path:
    """A composer whose last bubble is missing, an empty one, and one of an older version."""
    user = place / "User"
    workspace = user / "workspaceStorage" / "abc"
    (user / "globalStorage").mkdir(parents=True)
    workspace.mkdir(parents=True)
    schema = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
    older = {"composerId": "comp-0", "createdAt": 1_750_000_000_000, "conversation": [
        {"bubbleId": "o1", "type": 1, "text": "hi"}, {"bubbleId": "o2", "type": 2, "text": "hello"}]}  # fmt: skip
    rows = [
        composer("b1", "b2", "b3", "gone"),
        {"key": "composerData:comp-0", "value": json.dumps(older)},
        {
            "key": "composerData:comp-2",
            "value": json.dumps({"composerId": "comp-2", "fullConversationHeadersOnly": []}),
        },
        bubble("b1", 1, "Cut the hedge.", createdAt="2025-10-09T08:53:20.100Z"),
        bubble(
            "b2", 2, "", toolFormerData=TOOL, thinking={"text": "hm"}, tokenCount={"inputTokens": 0, "outputTokens": 0}
        ),
        bubble("b3", 2, "It is cut.", tokenCount={"inputTokens": 90, "outputTokens": 8}),
    ]
    path = database(user / "globalStorage" / "state.vscdb", schema, cursorDiskKV=rows)
    composers = {"allComposers": [{"composerId": "comp-1"}]}
    items = [{"key": "composer.composerData", "value": json.dumps(composers)}]
    database(workspace / "state.vscdb", "CREATE TABLE ItemTable (key, value)", ItemTable=items)
    (workspace / "workspace.json").write_text(json.dumps({"folder": "file:///home/me/my%20garden"}))
    return path


def cursor_grows(path: Path) -> None:
    insert(
        path, "cursorDiskKV", composer("b1", "b2", "b3", "b4", "b5"), bubble("b4", 1, "Thanks."), bubble("b5", 2, "…")
    )


def cursor_tears(path: Path) -> None:
    """A bubble that is cut off, as a row that was written only in part."""
    database = sqlite3.connect(path)
    with database:
        database.execute("UPDATE cursorDiskKV SET value = substr(value, 1, 20) WHERE key = 'bubbleId:comp-1:b2'")
    database.close()


def copilot_request(n: int, text: str, response: list[Json], **more: Json) -> dict[str, Json]:
    return {"requestId": f"request_{n}", "responseId": f"response_{n}", "message": {"text": text, "parts": []},
            "response": response, "timestamp": 1_770_000_000_000 + n * 60_000, "modelId": "copilot/gpt-5",
            **more}  # fmt: skip


ROUNDS: Json = {"metadata": {
    "toolCallRounds": [
        {"id": "r1", "response": "I look.", "toolCalls": [{"id": "c1", "name": "read", "arguments": '{"path": "a"}'}]},
        {"id": "r2", "response": "It is a leaf.", "toolCalls": []},
    ],
    "toolCallResults": {"c1": {"content": [{"$mid": 20, "value": "leaf"}]}}},
    "timings": {"totalElapsed": 2500}}  # fmt: skip


def copilot_requests() -> list[Json]:
    return [
        copilot_request(1, "What is in a?", [{"value": "I look."}], result=ROUNDS),
        copilot_request(2, "And in b?", [
            {"kind": "thinking", "value": "hm"}, {"value": "See "},
            {"kind": "inlineReference", "inlineReference": {"path": "/b"}},
            {"kind": "undoStop", "id": "x"},
            {"kind": "toolInvocationSerialized", "toolId": "read", "toolCallId": "c2", "isComplete": True,
             "pastTenseMessage": {"value": "Read b"},
             "resultDetails": {"input": '{"path": "b"}', "output": [{"value": "bark"}]}},
            {"value": "It is bark."}]),
    ]  # fmt: skip


def copilot(place: Path) -> Path:
    """A session as JSON, and one as a log of changes that make the same requests, in a workspace."""
    storage = place / "workspaceStorage" / "abc"
    (storage / "chatSessions").mkdir(parents=True)
    (storage / "workspace.json").write_text(json.dumps({"folder": "file:///home/me/garden"}))
    about = {"version": 3, "requesterUsername": "me", "responderUsername": "GitHub Copilot",
             "creationDate": 1_770_000_000_000, "lastMessageDate": 1_770_000_200_000}  # fmt: skip
    whole = {**about, "sessionId": "s-json", "customTitle": "Leaves", "requests": copilot_requests()}
    (storage / "chatSessions" / "s-json.json").write_text(json.dumps(whole))
    first, _ = copilot_requests()
    assert isinstance(first, dict)
    renamed = {**first, "requestId": "request_9", "responseId": "response_9", "response": []}
    renamed["timestamp"] = 1_770_000_090_000
    lines: list[Json] = [
        {"kind": 0, "v": {**about, "sessionId": "s-log", "requests": []}},
        {"kind": 2, "k": ["requests"], "v": [{**renamed, "result": None}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "wrong"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 0, "v": [{"value": "I look."}]},
        {"kind": 1, "k": ["requests", 0, "result"], "v": first["result"]},
        {"kind": 1, "k": ["requests", 7, "result"], "v": {}},
        {"kind": 1, "k": ["lastMessageDate"], "v": 1_770_000_100_000},
    ]
    path = storage / "chatSessions" / "s-log.jsonl"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return place / "workspaceStorage"


def atif_steps() -> list[Json]:
    return [
        {"step_id": 1, "timestamp": "2026-02-01T10:00:00Z", "source": "user", "message": "Plant it."},
        {"step_id": 2, "timestamp": "2026-02-01T10:00:02Z", "source": "agent", "message": "", "reasoning_content": "hm",
         "model_name": "m", "tool_calls": [{"tool_call_id": "c1", "function_name": "dig", "arguments": {"deep": 1}}],
         "observation": {"results": [{"source_call_id": "c1", "content": "a hole"}]},
         "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 5, "cost_usd": 0.1}},
        {"step_id": 3, "timestamp": "2026-02-01T10:00:04Z", "source": "agent", "message": "It is planted."},
    ]  # fmt: skip


def atif(place: Path, *more: Json) -> Path:
    agent = {"name": "gardener", "version": "1", "model_name": "m"}
    record = {"schema_version": "ATIF-v1.6", "session_id": "atif-1", "agent": agent, "steps": [*atif_steps(), *more]}
    return saved(place, "trajectory.json", record)


def swe_agent(place: Path, *more: Json) -> Path:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    history = [
        {"role": "system", "content": "You fix trees.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": [{"type": "text", "text": "Fix the elm."}], "agent": "main"},
        {"role": "assistant", "content": "I look.", "thought": "I look.", "action": "ls", "tool_calls": [call]},
        {"role": "tool", "content": "elm", "tool_call_ids": ["c1"], "message_type": "observation"},
        {"role": "assistant", "content": "It is fixed.", "tool_calls": None},
        *more,
    ]
    info = {"model_stats": {"instance_cost": 0.2, "tokens_sent": 70, "tokens_received": 9}, "exit_status": "submitted"}
    steps = [{"action": "ls", "observation": "elm", "response": "I look.", "thought": "I look."}]
    return saved(place, "elm.traj", {"trajectory": steps, "history": history, "info": info, "environment": "main"})


EDGES = {"Part of a tree.": "What is a bough?", "Yes.": "Big?", "What is a bough?": None}

SAMPLES = [
    Sample("open-webui", "an export with two answers to a question", open_webui, 1, 7, edges=EDGES,
           sessions={"open-webui:chat-1": "Yes."}, grow=open_webui_grows, grown=2, tear=halve),
    Sample("open-webui", "its database", open_webui_database, 1, 7, edges=EDGES),
    Sample("librechat", "a flat export with branches", librechat, 1, 7,
           edges={"No oak.": "Find an oak.", "Fell it.": "Here is one.", "Never.": "Fell it."},
           sessions={"librechat:libre-1": "Never."}, grow=librechat_grows, grown=2, tear=halve),
    Sample("librechat", "a recursive export", librechat_nested, 1, 7, edges={"No oak.": "Find an oak."}),
    Sample("cursor", "composers with bubbles, one of them gone", cursor, 2, 6, skipped=("comp-1:gone",),
           edges={"Cut the hedge.": None, "It is cut.": "", "hello": "hi"},
           sessions={"cursor:comp-1": "It is cut."}, grow=cursor_grows, grown=2, tear=cursor_tears),
    Sample("copilot", "a session as JSON and one as a log of changes", copilot, 2, 12, skipped=("s-log.jsonl:6",),
           edges={"It is bark.": "", "And in b?": "It is a leaf."},
           sessions={"copilot:s-json": "It is bark.", "copilot:s-log": "It is a leaf."},
           grow=lambda path: append(path / "abc" / "chatSessions" / "s-log.jsonl", {
               "kind": 2, "k": ["requests"], "v": [copilot_request(8, "More?", [{"value": "No."}])]}), grown=2,
           tear=lambda path: chop(path / "abc" / "chatSessions" / "s-log.jsonl")),
    Sample("atif", "a trajectory with a call", atif, 1, 4, edges={"Plant it.": None, "It is planted.": ""},
           sessions={"atif:atif-1": "It is planted."},
           grow=lambda path: atif(path.parent, {"step_id": 4, "source": "user", "message": "Water it."},
                                  {"step_id": 5, "source": "agent", "message": "It is wet."}), grown=2, tear=chop),
    Sample("swe-agent", "a history with a call", swe_agent, 1, 5,
           edges={"Fix the elm.": "You fix trees.", "It is fixed.": ""},
           grow=lambda path: swe_agent(path.parent, {"role": "user", "content": "And the ash."},
                                       {"role": "assistant", "content": "Fixed."}), grown=2, tear=halve),
]  # fmt: skip
