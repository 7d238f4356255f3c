"""The programs in `examples` run as they are, against a server that speaks OpenAI's protocol."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Usage, assistant, user
from tests.importers.samples.llm import older
from tests.providers.servers import Server, serving, status

EXAMPLES = Path(__file__).parent.parent / "examples"


def completion(**message: Any) -> dict[str, Any]:
    """A whole reply of OpenAI's Chat Completions."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None, **message}}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice],
            "usage": usage}  # fmt: skip


CALL = {"id": "c1", "type": "function", "function": {"name": "measure", "arguments": '{"tree": "oak"}'}}


def start(server: Server, directory: Path, program: str, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "OPENAI_BASE_URL": f"{server.address}/v1", "OPENAI_API_KEY": "none"}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, EXAMPLES / program, *words], cwd=directory, env=environment, text=True,
                            stdin=pipe, stdout=pipe, stderr=pipe)  # fmt: skip


def run(server: Server, directory: Path, program: str, *words: str, said: Iterable[str] = ()) -> str:
    process = start(server, directory, program, *words)
    out, err = process.communicate("".join(f"{line}\n" for line in said), timeout=60)
    assert process.returncode == 0, err
    return out


@pytest.mark.parametrize("program", ["resumable_agent.py", "edit_and_branch.py", "cost_report.py"])
def test_an_example_is_shorter_than_25_lines(program: str) -> None:
    assert len((EXAMPLES / program).read_text("utf-8").splitlines()) < 25


def test_the_agent_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    asked = threading.Event()

    def hang(connection: Any) -> None:
        asked.set()
        connection.recv(1)

    replies = status(200, completion(tool_calls=[CALL])), hang, status(200, completion(content="About 210 years."))
    with serving(*replies) as server:
        process = start(server, tmp_path, "resumable_agent.py", "How old is the oak?")
        assert asked.wait(60)  # the call and its result are stored
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert run(server, tmp_path, "resumable_agent.py") == "About 210 years.\n"
        messages = server.heard[-1].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[-1]["content"] == "The oak is 4.1 metres around."


def test_the_chat_edits_a_question_answers_again_and_goes_to_a_branch(tmp_path: Path) -> None:
    said = ["An oak?", "/edit A beech?", "/again", "/go 2"]
    replies = [status(200, completion(content=words)) for words in ("oak", "beech", "birch")]
    with serving(*replies) as server:
        lines = run(server, tmp_path, "edit_and_branch.py", said=said).splitlines()
        requests = [heard.body["messages"] for heard in server.heard]
    assert [[message["content"] for message in request] for request in requests] == [
        ["An oak?"],
        ["A beech?"],
        ["A beech?"],
    ]
    assert lines == [
        "0 * oak",
        "0 * beech", "1   oak",
        "0 * birch", "1   beech", "2   oak",
        "user: An oak?", "assistant: oak",
    ]  # fmt: skip


def test_the_report_adds_up_costs_by_day_and_model_and_names_the_dearest_conversations(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db") as store:
        dear, cheap = store.session("cli:dear", title="Dear"), store.session("cli:cheap")
        dear.save_turn([user("q"), assistant("a")], model="large", usage=Usage(10, 2, cost=2.0))
        dear.delegate("review").save_turn([user("q"), assistant("a")], model="small", usage=Usage(5, 1, cost=0.5))
        cheap.save_turn([user("q"), assistant("a")], model="small", usage=Usage(1, 1))
    with serving(status(200)) as server:
        rows = [line.split() for line in run(server, tmp_path, "cost_report.py", "a.db").splitlines()]
    assert [row[1:] for row in rows[:2]] == [["large", "10", "2", "$2.0000"], ["small", "6", "2", "$0.5000"]]
    assert rows[2:] == [["Dear", "15", "3", "$2.5000"], ["cli:cheap", "1", "1", "unknown"]]


def program(directory: Path, name: str, *words: str) -> str:
    environment = {**os.environ, "HOME": str(directory), "BOUGH_DB": str(directory / "agents.db")}
    return subprocess.run([sys.executable, EXAMPLES / name, *words], cwd=directory, env=environment, text=True,
                          capture_output=True, check=True, timeout=60).stdout  # fmt: skip


def test_the_history_of_llm_is_brought_once(tmp_path: Path) -> None:
    logs = str(older(tmp_path))
    first = program(tmp_path, "migrate_from_llm.py", logs, "a.db")
    assert "messages" in first
    assert program(tmp_path, "migrate_from_llm.py", logs, "a.db") == first


def test_the_report_by_duckdb_counts_replies_and_turns(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db") as store:
        store.session("cli:a").save_turn([user("q"), assistant("a longer answer")], model="small", usage=Usage(5, 2))
    lines = [line.strip() for line in program(tmp_path, "analytics.py", "a.db").splitlines()]
    assert lines[:4] == ["Replies by model", "small 1 2 unknown", "Turns by how they ended", "complete 1"]
    assert lines[5] == "cli:a assistant 15"


def test_the_mcp_client_gets_the_answer_of_an_agent(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("210 years.\n")
    (tmp_path / "config.toml").write_text('[agents.gardener]\nmodel = "scripted:script"\n')
    assert program(tmp_path, "mcp_client.py", "gardener", "How", "old?") == "gardener says: 210 years.\n"
