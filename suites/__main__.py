"""Runs suites, all or the named ones, and prints the counts. The exit status is 1 if a test failed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from suites.environment import ROOT, Counts, environment, pytest, run, source, variables

HERE = Path(__file__).parent

AGENTS = "0.24.0"
AGENTS_FILES = [
    "memory/test_session.py", "memory/test_session_limit.py", "memory/test_session_context_wrapper.py",
    "memory/test_session_persistence_sanitize.py", "memory/test_compaction_suffix.py",
    "memory/test_compaction_model_visibility.py", "memory/test_openai_responses_compaction_session.py",
    "test_hitl_session_scenario.py", "test_agent_runner.py", "test_agent_runner_streamed.py", "test_max_turns.py",
    "test_soft_cancel.py", "test_run_impl_resume_paths.py", "test_tool_failure_boundaries.py",
    "test_tool_batch_failure_history.py", "test_native_tool_failure_history.py", "test_programmatic_tool_calling.py",
    "extensions/memory/test_encrypt_session.py",
]  # fmt: skip
LANGGRAPH = "1.2.22"
LANGGRAPH_FILES = [
    "test_time_travel", "test_time_travel_async", "test_subgraph_persistence", "test_subgraph_persistence_async",
    "test_checkpoint_migration", "test_interruption", "test_strict_resume", "test_delta_channel_fork",
    "test_delta_channel_exit_mode", "test_delta_channel_migration", "test_delta_channel_update_state",
    "test_delta_channel_subgraph", "test_parent_command", "test_parent_command_async", "test_large_cases",
    "test_large_cases_async", "test_pregel", "test_pregel_async",
]  # fmt: skip
CLAUDE = "0.2.184"
CLAUDE_FILES = [
    "test_session_import", "test_session_resume", "test_session_helpers_store", "test_session_summary",
    "test_transcript_mirror", "test_session_store_conformance",
]  # fmt: skip
PYDANTIC = "2.66.0"
STRANDS = "1.62.0"
STRANDS_FILES = ["session/test_repository_session_manager.py", "agent/test_agent.py", "agent/test_agent_delegation.py"]
END_TO_END = ["pytest", "hypothesis", "openai"]
"""What the end-to-end tests of this project need in the environment of an SDK."""
LIBRARIES = {
    "litellm": ["litellm==1.106.2", "mcp"],
    "agent_framework": ["agent-framework-core==1.23.0", "agent-framework-openai==1.17.0"],
    "llama_index": ["llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1"],
}


def printed(name: str, text: str) -> Counts:
    """The counts that a program has printed as JSON, in its last line."""
    found = json.loads(text.strip().splitlines()[-1])
    return Counts(name, found["passed"], 0, tuple(found["failed"]))


def openai_agents() -> Iterator[Counts]:
    """The contract tests of its sessions, and the tests of its runner whose session is a list."""
    extras = ["aiosqlite", "httpx", "websockets", "pytest", "pytest-asyncio", "pytest-timeout", "pytest-mock"]
    python = environment("openai-agents", [f"openai-agents[sqlalchemy,encrypt]=={AGENTS}", "inline-snapshot", *extras])
    root = source(python, "openai-agents", AGENTS)
    left_out = [f"--deselect=tests/{name}" for name in names("openai_agents_left_out.txt")]
    arguments = ["--timeout=120", *(f"tests/{file}" for file in AGENTS_FILES), *left_out]
    yield pytest("openai-agents sessions", python, root, "openai_agents", arguments, OPENAI_API_KEY="x")
    files = sorted(path for path in (root / "tests").rglob("test_*.py") if "simple_session import" in path.read_text())
    arguments = ["--timeout=120", *map(str, files), *left_out]
    yield pytest("openai-agents runner", python, root, "openai_agents_list", arguments, OPENAI_API_KEY="x")


def langgraph() -> Iterator[Counts]:
    """The published conformance suite, and its own tests in the slots of the SQLite savers."""
    extras = ["pytest", "pytest-asyncio", "pytest-mock", "pytest-repeat", "pytest-timeout", "pytest-xdist", "syrupy"]
    savers = ["langgraph-checkpoint-conformance==0.0.2", "langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres"]
    more = ["psycopg[binary]", "httpx", "pycryptodome", "redis"]
    python = environment("langgraph", [f"langgraph=={LANGGRAPH}", *savers, *more, *extras])
    text = run(python, "-m", "suites.langgraph_conformance", variables=variables())
    yield printed("langgraph conformance", text)
    root = source(python, "langgraph", LANGGRAPH)
    arguments = ["-o", "addopts=", "--timeout=120", "-n", "2", *(f"tests/{file}.py" for file in LANGGRAPH_FILES)]
    more_variables = {"NO_DOCKER": "true", "LANGGRAPH_TEST_FAST": "false"}
    yield pytest("langgraph", python, root, "langgraph", arguments, **more_variables)


def claude_agent_sdk() -> Iterator[Counts]:
    """The contracts that it ships, and its own tests of session stores."""
    python = environment("claude-agent-sdk", [f"claude-agent-sdk=={CLAUDE}", "pytest", "pytest-asyncio", "anyio[trio]"])
    text = run(python, "-m", "suites.claude_contracts", variables=variables())
    yield printed("claude-agent-sdk contracts", text)
    root = source(python, "claude-agent-sdk", CLAUDE)
    yield pytest("claude-agent-sdk", python, root, "claude_agent_sdk", [f"tests/{file}.py" for file in CLAUDE_FILES])


def pydantic_ai() -> Iterator[Counts]:
    """It has no tests of conversation stores: random programs, compared with its store in memory."""
    python = environment("pydantic-ai", [f"pydantic-ai-slim=={PYDANTIC}"])
    yield printed("pydantic-ai programs", run(python, "-m", "suites.pydantic_ai_programs", variables=variables()))


def strands() -> Iterator[Counts]:
    """The tests of its session manager over a repository, and those of its file manager that fit any repository."""
    extras = ["pytest", "pytest-asyncio", "pytest-timeout", "moto", "boto3", "hypothesis"]
    python = environment("strands", [f"strands-agents[all]=={STRANDS}", *extras])
    root = source(python, "strands-agents", STRANDS)
    only = ["--timeout=60", "-k", "session or repository or history or message"]
    files = [f"tests/strands/{file}" for file in STRANDS_FILES]
    yield pytest("strands manager", python, root, "strands", [*only, *files], AWS_DEFAULT_REGION="us-east-1")
    yield end_to_end("strands", python)
    file = "tests/strands/session/test_file_session_manager.py"
    yield pytest("strands repository", python, root, "strands_files", [file], AWS_DEFAULT_REGION="us-east-1")


def google_adk() -> Iterator[Counts]:
    """It ships no tests: random programs, compared with its service in memory."""
    python = environment("google-adk", ["google-adk==2.13.0", *END_TO_END])
    yield printed("google-adk programs", run(python, "-m", "suites.google_adk_programs", variables=variables()))
    yield end_to_end("google_adk", python)


def libraries() -> Iterator[Counts]:
    """Libraries without a suite for what their adapters are: a program with the real library each."""
    for name, packages in LIBRARIES.items():
        python = environment(name, [*packages, *END_TO_END])
        about = variables(LITELLM_LOCAL_MODEL_COST_MAP="True")
        yield printed(name, run(python, "-W", "ignore", "-m", "suites.libraries", name, variables=about))
        yield end_to_end(name, python)


def end_to_end(name: str, python: Path) -> Counts:
    """The end-to-end tests of this project, in the environment of an SDK that is too heavy for every one."""
    arguments = [
        "-o",
        "addopts=",
        "-W",
        "ignore",
        "-k",
        f"{name} and not postgres",
        "tests/adapters/test_end_to_end.py",
    ]
    about = {"BOUGH_ADAPTERS": name, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return pytest(f"{name} end to end", python, ROOT, None, arguments, **about)


def names(file: str) -> list[str]:
    lines = (HERE / file).read_text("utf-8").splitlines()
    return [line for line in lines if "::" in line and not line.startswith("#")]


ALL = (openai_agents, langgraph, claude_agent_sdk, pydantic_ai, strands, google_adk, libraries)
SUITES: dict[str, Callable[[], Iterator[Counts]]] = {suite.__name__: suite for suite in ALL}


def main(wanted: list[str]) -> int:
    if unknown := sorted(set(wanted) - set(SUITES)):
        raise SystemExit(f"There is no suite {', '.join(unknown)}; there are {', '.join(SUITES)}.")
    failures = 0
    for name in wanted or SUITES:
        for counts in SUITES[name]():
            print(counts, flush=True)
            failures += len(counts.failed)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
