"""Real programs talk with a scripted model on loopback; what they wrote is imported. `make programs` runs these."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Node, Store
from bough.importers import detect
from tests.importers.helpers import import_path
from tests.importers.programs.installed import from_npm, from_pypi, run
from tests.importers.programs.model_server import ANSWER, TOKENS, Script, model_server

pytestmark = pytest.mark.programs

QUESTION = "What is a bough?"
NOTE = "bough: main branch"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "work").mkdir(parents=True)
    (tmp_path / "home" / "work" / "note.txt").write_text(NOTE + "\n")
    return tmp_path / "home"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "bough.db") as opened:
        yield opened


def imported(store: Store, path: Path, source: str) -> list[Node]:
    """The dialog of the only conversation that a program wrote; the second import adds nothing."""
    assert detect(path).name == source
    results, skipped = import_path(store, path)
    assert (len(results), skipped, store.verify()) == (1, [], [])
    assert sum(one.added for one in import_path(store, path)[0]) == 0
    return store.session(str(results[0].session)).path()


def assert_asked_called_and_answered(path: list[Node], tool: str) -> None:
    said = [node for node in path if node.role != "system"]
    assert [node.role for node in said] == ["user", "assistant", "tool_result", "assistant"]
    assert QUESTION in said[0].message.text
    assert [call.name for call in said[1].message.calls] == [tool]
    assert NOTE in said[2].message.results[0].text
    assert said[2].message.results[0].call_id == said[1].message.calls[0].call_id
    assert said[3].message.text == ANSWER


def assert_counted(store: Store, replies: int) -> None:
    usage = store.usage()[0].usage
    assert (usage.input_tokens, usage.output_tokens) == (replies * TOKENS[0], replies * TOKENS[1])


def test_gemini_cli(home: Path, store: Store) -> None:
    script = Script("read_file", {"file_path": str(home / "work" / "note.txt")})
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    words = [from_npm("@google/gemini-cli", "gemini"), "-p", QUESTION, "-m", "gemini-2.5-flash", "--yolo"]
    with model_server(script) as url:
        out = run(
            [*words, "--skip-trust"], home, GEMINI_API_KEY="x", GOOGLE_GEMINI_BASE_URL=url,
            GEMINI_CLI_TRUST_WORKSPACE="true",
        )  # fmt: skip
    assert ANSWER in out, out
    path = imported(store, home / ".gemini" / "tmp", "gemini-cli")
    assert path[0].message.text.startswith("<session_context>")
    assert_asked_called_and_answered(path[1:], "read_file")
    assert_counted(store, 2)
    assert store.sessions()[0].directory == str(home / "work")


def test_pi(home: Path, store: Store) -> None:
    script = Script("read", {"path": "note.txt"})
    with model_server(script) as url:
        provider = {"baseUrl": f"{url}/v1", "apiKey": "x", "api": "openai-completions", "models": [{"id": "scripted"}]}
        (home / ".pi" / "agent").mkdir(parents=True)
        (home / ".pi" / "agent" / "models.json").write_text(json.dumps({"providers": {"loop": provider}}))
        words = [from_npm("@mariozechner/pi-coding-agent", "pi"), "-p", "--provider", "loop", "--model", "scripted"]
        out = run([*words, QUESTION], home)
    assert ANSWER in out, out
    assert_asked_called_and_answered(imported(store, home / ".pi" / "agent" / "sessions", "pi"), "read")
    assert_counted(store, 2)


def test_claude_code(home: Path, store: Store) -> None:
    script = Script("Read", {"file_path": str(home / "work" / "note.txt")})
    words = [from_npm("@anthropic-ai/claude-code", "claude"), "-p", QUESTION, "--model", "claude-sonnet-4-5"]
    with model_server(script) as url:
        out = run(
            words, home, ANTHROPIC_API_KEY="x", ANTHROPIC_BASE_URL=url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1"
        )
    assert ANSWER in out, out
    assert_asked_called_and_answered(imported(store, home / ".claude" / "projects", "claude-code"), "Read")
    assert_counted(store, 2)


def test_codex(home: Path, store: Store) -> None:
    script = Script()
    with model_server(script) as url:
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(
            'model = "scripted"\nmodel_provider = "loop"\n[model_providers.loop]\nname = "loop"\n'
            f'base_url = "{url}/v1"\nenv_key = "KEY"\nwire_api = "responses"\n'
        )
        out = run([from_npm("@openai/codex", "codex"), "exec", "--skip-git-repo-check", QUESTION], home, KEY="x")
    assert ANSWER in out, out
    path = imported(store, home / ".codex" / "sessions", "codex")
    assert [node.message.text for node in path if node.role == "user"][-1] == QUESTION
    assert path[-1].message.text == ANSWER
    assert_counted(store, 1)


def test_opencode(home: Path, store: Store) -> None:
    script = Script("read", {"filePath": str(home / "work" / "note.txt")})
    with model_server(script) as url:
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Loop", "models": {"scripted": {"name": "S"}},
                    "options": {"baseURL": f"{url}/v1", "apiKey": "x"}}  # fmt: skip
        settings = {"provider": {"loop": provider}, "permission": "allow"}
        (home / "work" / "opencode.json").write_text(json.dumps(settings))
        out = run([from_npm("opencode-ai", "opencode"), "run", "-m", "loop/scripted", QUESTION], home)
    assert ANSWER in out, out
    path = imported(store, home / ".local" / "share" / "opencode", "opencode")
    assert_asked_called_and_answered(path, "read")


def test_aider(home: Path, store: Store) -> None:
    script = Script()
    words = [from_pypi("aider-chat", "aider"), "--model", "openai/scripted", "--no-git", "--yes-always"]
    words += ["--no-check-update", "--no-analytics", "--no-show-model-warnings", "--message", f"{QUESTION}\nIn a line."]
    with model_server(script) as url:
        out = run(words, home, OPENAI_API_KEY="x", OPENAI_API_BASE=f"{url}/v1")
    assert ANSWER in out, out
    path = imported(store, home / "work" / ".aider.chat.history.md", "aider")
    said = [(node.role, node.message.text) for node in path if node.role != "system"]
    assert said == [("user", f"{QUESTION}\nIn a line."), ("assistant", ANSWER)]


def test_llm(home: Path, store: Store) -> None:
    script = Script()
    with model_server(script) as url:
        (home / "llm").mkdir()
        (home / "llm" / "extra-openai-models.yaml").write_text(
            f'- model_id: scripted\n  model_name: scripted\n  api_base: "{url}/v1"\n'
        )
        words = [from_pypi("llm", "llm"), "-m", "scripted", QUESTION]
        out = run(words, home, LLM_USER_PATH=str(home / "llm"), OPENAI_API_KEY="x")
    assert ANSWER in out, out
    path = imported(store, home / "llm" / "logs.db", "llm")
    assert [(node.role, node.message.text) for node in path] == [("user", QUESTION), ("assistant", ANSWER)]
    assert_counted(store, 1)


def test_gptme(home: Path, store: Store) -> None:
    script = Script()
    words = [from_pypi("gptme", "gptme"), "--non-interactive", "-m", "local/scripted", QUESTION]
    with model_server(script) as url:
        out = run(words, home, OPENAI_API_KEY="x", OPENAI_BASE_URL=f"{url}/v1")
    assert ANSWER in out, out
    path = imported(store, home / ".local" / "share" / "gptme" / "logs", "gptme")
    assert QUESTION in next(node.message.text for node in path if node.role == "user")
    assert any(node.message.text == ANSWER for node in path if node.role == "assistant")
