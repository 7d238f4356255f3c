"""`bough config`: settings with their origins, changes, and mistakes in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bough.cli import pointers
from bough.cli.exits import STATUSES
from bough.cli.locate import Locator
from tests.cli.bough_process import Shell


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / ".config" / "bough" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_every_setting_is_shown_with_its_origin(sh: Shell, file: Path) -> None:
    file.write_text('[run]\nmodel = "scripted:x"\n[providers.mine]\napi_key = "sesame"\n')
    out = sh("config", BOUGH_MODEL="local").out
    rows = {line.split()[0]: line.split() for line in out.splitlines()}
    assert rows["run.model"] == ["run.model", '"local"', "$BOUGH_MODEL"]
    assert rows["db.path"][2] == "$BOUGH_DB"
    assert rows["run.max_steps"][2] == "default"
    assert rows["providers.mine.api_key"] == ["providers.mine.api_key", '"(hidden)"', f"{file}:4"]
    assert "sesame" not in out


def test_settings_without_a_value_show_the_effective_one(sh: Shell, tmp_path: Path) -> None:
    def shown(**more: str) -> dict[str, tuple[object, str]]:
        settings = json.loads(sh("config", "--json", **more).out)
        return {one["key"]: (one["value"], one["origin"]) for one in settings}

    assert shown()["run.model"] == ("local", "default")
    assert str(shown(OPENAI_API_KEY="sk-x")["run.model"][0]).startswith("openai:")
    assert "sk-x" not in str(shown(OPENAI_API_KEY="sk-x"))
    (tmp_path / ".bough").write_text("near.db")
    assert sh("db", "allow").status == sh("db", "allow", ".").status == 0
    assert shown(BOUGH_DB="")["db.path"] == (str(tmp_path / "near.db"), str(tmp_path / ".bough"))


def test_settings_are_data_too(sh: Shell, file: Path) -> None:
    file.write_text('[run]\nmodel = "scripted:x"\n')
    for words in (["run.model"], ["get", "run.model"], ["show", "run.model"]):
        shown = json.loads(sh("config", *words, "--json").out)
        assert shown == [{"key": "run.model", "value": "scripted:x", "origin": f"{file}:2"}]
    sections = json.loads(sh("config", "conversation", "--json").out)
    assert {one["key"].partition(".")[0] for one in sections} == {"conversation"}


def test_the_file_is_found_by_flag_variable_or_custom(sh: Shell, file: Path, tmp_path: Path) -> None:
    assert sh("config", "path").out == f"{file}\n"
    other = tmp_path / "other.toml"
    other.write_text('[run]\nmodel = "a"\n')
    assert sh("config", "path", BOUGH_CONFIG=str(other)).out == f"{other}\n"
    assert '"a"' in sh("--config", str(other), "config", "run.model").out
    assert '"a"' in sh("config", "run.model", "--config", str(other)).out
    assert '"a"' in sh("config", "run.model", BOUGH_CONFIG=str(other)).out


def test_a_mistake_is_one_line_with_a_suggestion(sh: Shell, file: Path) -> None:
    file.write_text("[run]\nmodle = 'x'\n")
    done = sh("config")
    assert (done.status, done.out) == (STATUSES["config"], "")
    message = f"bough: {file}:2: 'run.modle' is not a key of the configuration. Did you mean 'run.model'?\n"
    assert done.err == message
    file.write_text("run = 3\n")
    assert "'run' is a table, not a value; write [run], and its keys below it." in sh("config").err
    missing = sh("--config", "nowhere.toml", "config")
    assert missing.status == STATUSES["config"]
    assert "There is no file" in missing.err
    assert "Did you mean 'run.model'" in sh("config", "--config", "/dev/null", "run.modle").err


def test_a_value_is_set(sh: Shell, file: Path) -> None:
    assert sh("config", "set", "run.model", "local").err == f"run.model is set in {file}\n"
    assert file.read_text() == '[run]\nmodel = "local"\n'
    done = sh("config", "set", "run.max_steps", "many")
    assert done.status == STATUSES["config"]
    assert "whole number" in done.err


def test_the_editor_opens_a_commented_file_and_mistakes_are_reported(sh: Shell, file: Path) -> None:
    assert sh("config", "edit", EDITOR="true").status == 0
    assert "[run]" in file.read_text()
    done = sh("config", "edit", EDITOR="sh -c 'echo nonsense = 1 > \"$0\"'")
    assert done.status == STATUSES["config"]
    assert "'nonsense' is not a key" in done.err


def test_the_store_is_where_the_configuration_says(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOUGH_DB", raising=False)
    monkeypatch.chdir(tmp_path)
    file.write_text('[db]\npath = "kept.db"\n')
    found = Locator(config=str(file)).find()
    assert (found.where, found.source) == (str(file.parent / "kept.db"), f"{file}:2")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    (tmp_path / ".bough").write_text("near.db")
    pointers.allow(tmp_path / ".bough", b"near.db")
    assert Locator(config=str(file)).find().where == str(tmp_path / "near.db")
    assert Locator("named.db", str(file)).find().where == "named.db"
