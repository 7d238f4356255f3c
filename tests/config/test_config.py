"""The configuration: what the file may say, who wins, and what an error tells."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bough import ConfigError
from bough.config import Config, default_path, load
from bough.config.keys import KEYS
from bough.config.writing import set_value

WHOLE = """\
[db]
path = "kept/here.db"
[run]
model = "scripted:replies"
max_steps = 7

[agents."code review"]
system = "You review."
tools = ["files.read"]
options = { temperature = 0.2 }

[providers.mine]
base_url = "https://user:sesame@example.org/v1?key=sesame"
api_key = "sesame"
headers = { Authorization = "sesame" }

[mcp.files]
command = ["server", "--api-key=sesame", "--token=sesame", "plain=text"]
"""


def config(tmp_path: Path, text: str, **environ: str) -> Config:
    (tmp_path / "config.toml").write_text(text)
    return load(tmp_path / "config.toml", environ)


def test_the_example_of_the_documentation_is_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    made = config(tmp_path, page.partition("```toml\n")[2].partition("```")[0])
    assert made.get("providers.openrouter.api_key_env") == "OPENROUTER_API_KEY"
    assert made.table("agents", "reviewer")["tools"] == ["files.read", "files.search"]


def test_every_value_has_an_origin(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(WHOLE)
    made = load(tmp_path / "config.toml", {"BOUGH_MODEL": "local"}, {"db.path": ("--db", "other.db")})
    origins = {one.name: (one.value, one.origin) for one in made.settings()}
    assert origins["db.path"] == ("other.db", "--db")
    assert origins["run.model"] == ("local", "$BOUGH_MODEL")
    assert origins["run.max_steps"] == (7, f"{tmp_path}/config.toml:5")
    assert origins["conversation.max_age_days"] == (30, "default")
    assert origins["agents.code review.system"] == ("You review.", f"{tmp_path}/config.toml:8")


def test_a_table_holds_its_values(tmp_path: Path) -> None:
    made = config(tmp_path, WHOLE)
    assert made.names("agents") == ["code review"]
    wanted = {"system": "You review.", "tools": ["files.read"], "options": {"temperature": 0.2}}
    assert made.table("agents", "code review") == wanted
    assert made.tables("agents") == {"code review": wanted}
    assert made.table("run")["max_steps"] == 7
    with pytest.raises(ConfigError, match=r"no \[agents.critic\].*It has code review"):
        made.table("agents", "critic")


def test_a_path_is_relative_to_the_file_and_a_url_is_not(tmp_path: Path) -> None:
    assert config(tmp_path, WHOLE).get("db.path") == str(tmp_path / "kept/here.db")
    assert config(tmp_path, '[db]\npath = "postgresql://host/x"').get("db.path") == "postgresql://host/x"
    assert config(tmp_path, '[db]\npath = "~/x.db"').get("db.path") == str(Path.home() / "x.db")


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    shown = {one.name: one.shown for one in config(tmp_path, WHOLE).settings()}
    assert "sesame" not in str(shown)
    assert shown["providers.mine.api_key"] == "(hidden)"
    assert shown["mcp.files.command"] == ["server", "--api-key=(hidden)", "--token=(hidden)", "plain=text"]
    assert shown["providers.mine.headers"] == {"Authorization": "(hidden)"}
    assert shown["providers.mine.base_url"] == "https://(hidden)@example.org/v1?(hidden)"


WRONG = [
    ("[run]\nmodell = 'x'", r":2: 'run.modell' is not a key .* Did you mean 'run.model'\?"),
    ("model = 'x'", r":1: 'model' is not a key .* Did you mean 'run.model'\?"),
    ("[db]\n\nmodel = 'x'", r":3: 'db.model' is not a key .* Did you mean"),
    ("[conversations]\nmax_messages = 3", r"Did you mean 'conversation.max_messages'\?"),
    ("[agents.critic]\nsytem = 'x'", r":2: .* Did you mean 'agents.critic.system'\?"),
    ("[nothing.like.it]\nat = 1", r":1: 'nothing.like' is not a key of the configuration\.$"),
    ("agents = 3", r":1: 'agents' is a table, not a value; write \[agents\]"),
    ("[run]\nmax_steps = '7'", r":2: run.max_steps must be a whole number, not '7'\."),
    ("[run]\nmax_steps = true", r"run.max_steps must be a whole number, not True\."),
    ("[run]\ntimeout = 0", r"run.timeout must be greater than zero, not 0\."),
    ("[run]\nmodel = 3", r"run.model must be a string in quotes, not 3\."),
    ("[run]\ntools = [1]", r"run.tools must be a list of strings"),
    ("[mcp.files]\ncommand = 'server'", r":2: mcp.files.command must be a list of strings"),
    ("[providers.mine]\ntype = 'opneai'", r"type must be one of openai, openai.responses, anthropic, .* not 'opneai'"),
    ("[providers.mine]\napi_key = 3", r"api_key must be a string in quotes, not the present value"),
    ("[run\n", r"line 1"),
]


@pytest.mark.parametrize(("text", "told"), WRONG, ids=[told[:40] for _, told in WRONG])
def test_an_error_names_the_line_and_suggests_a_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        config(tmp_path, text)
    assert str(tmp_path / "config.toml") in str(caught.value)


def test_a_file_that_is_not_text_or_not_readable_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"[run]\nmodel = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(tmp_path / "config.toml", {})


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no file .*nowhere.toml, which --config names"):
        load(tmp_path / "nowhere.toml", {})
    with pytest.raises(ConfigError, match=r"which \$BOUGH_CONFIG names"):
        load(None, {"BOUGH_CONFIG": str(tmp_path / "nowhere.toml")})


def test_defaults_apply_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    made = load(None, {})
    assert made.get("run.max_steps") == next(key.default for key in KEYS if key.name == "run.max_steps")
    assert made.path == default_path({})
    assert made.path.is_relative_to(tmp_path)
    with pytest.raises(ConfigError, match=r"Did you mean 'run.model'"):
        made.get("run.modle")


def test_setting_a_value_changes_one_line_and_keeps_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n[run] # here\nmodel = 'old'  \n\n[db]\npath = 'x'\n")
    set_value(file, "run.model", "new")
    set_value(file, "run.max_steps", "9")
    set_value(file, "agents.code review.tools", "files.read, files.search")
    set_value(file, "run.options", "{ temperature = 0.5 }")
    assert file.read_text().startswith("# mine\n[run] # here\n")
    made = load(file, {})
    assert (made.get("run.model"), made.get("run.max_steps")) == ("new", 9)
    assert made.get("run.options") == {"temperature": 0.5}
    assert made.table("agents", "code review") == {"tools": ["files.read", "files.search"]}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_failed_change_leaves_the_file_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[run]\nsystem = """\nmodel = 3\n"""\n')
    for name, text, told in [
        ("run.system", "short", "cannot be changed automatically"),
        ("run.modle", "x", "Did you mean 'run.model'"),
        ("run.max_steps", "many", "whole number"),
    ]:
        before = file.read_text()
        with pytest.raises(ConfigError, match=told):
            set_value(file, name, text)
        assert file.read_text() == before
