"""The agents of a configuration are built from its tables, the session and the flags, in this order of precedence."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.config import Config, load
from bough.errors import ConfigError
from bough.runtime.agents import Runtime
from bough.runtime.settings import AgentOptions

CONFIG = """
[run]
model = "scripted:a.json"
system = "Be brief."
max_steps = 3
agents = ["scout"]

[agents.scout]
description = "Looks around."
model = "scripted:scout.json"
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    file = tmp_path / "config.toml"
    file.write_text(CONFIG)
    for name in ("a", "b", "scout"):
        (tmp_path / f"{name}.json").write_text("[]")
    return load(file, environ={})


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_flags_take_precedence_over_the_session_and_the_session_over_the_configuration(config: Config) -> None:
    with bough.connect(":memory:") as store, Runtime(config) as runtime:
        session = store.session("cli:a")
        assert runtime.agent(AgentOptions(), session.info).provider.model == "a.json"
        session.update(model="scripted:b.json")
        assert runtime.agent(AgentOptions(), session.info).provider.model == "b.json"
        assert runtime.agent(AgentOptions(model="scripted:a.json"), session.info).provider.model == "a.json"


def test_an_agent_has_the_settings_of_run_and_its_own_over_them(config: Config) -> None:
    with Runtime(config) as runtime:
        scout = runtime.agent(AgentOptions(agent="scout"))
    assert (scout.name, scout.instructions, scout.limits.steps) == ("scout", "Be brief.", 3)
    assert (scout.description, scout.provider.model) == ("Looks around.", "scout.json")


def test_the_delegates_of_an_agent_are_tools_and_not_inherited(config: Config) -> None:
    with Runtime(config) as runtime:
        assert runtime.reachable(None) == [None, "scout"]
        assert runtime.reachable("scout") == ["scout"]
        (delegate,) = [bound for source in runtime.agent(AgentOptions()).tools for bound in source.tools()]  # type: ignore[union-attr]
    assert delegate.tool.name == "scout"


def test_an_agent_that_is_not_configured_is_an_error(config: Config) -> None:
    with Runtime(config) as runtime, pytest.raises(ConfigError, match="nosuch"):
        runtime.agent(AgentOptions(agent="nosuch"))
