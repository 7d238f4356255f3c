"""Every command with empty, missing, read-only and foreign stores, a server, hostile text."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import bough
from bough import ToolCall, assistant, tool_result, user
from tests.cli.bough_process import Done, Shell
from tests.cli.history import HOSTILE, fill
from tests.cli.scripted_shell import ScriptedShell
from tests.cli.terminal import COLOURS, seen


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("conversations",), "No messages found."),
        (("convo", "ls", "--flat"), "No messages found."),
        (("tree",), "No messages found."),
        (("sessions",), "No sessions found."),
        (("search", "x"), "Nothing found."),
        (("stats",), "No turns yet"),
        (("restore",), "The trash is empty."),
        (("clean",), "No conversation has been unused for 30d."),
        (("export", "--all"), "There is nothing to export."),
    ],
)
def test_an_empty_store_is_reported_and_no_file_is_created(sh: Shell, words: tuple[str, ...], message: str) -> None:
    done = sh(*words)
    assert (done.status, done.out) == (0, "")
    assert message in done.err
    assert not sh.db.exists()


def test_reading_creates_no_directory_and_an_unwritable_home_is_one_line(sh: Shell) -> None:
    elsewhere = {"BOUGH_DB": "", "XDG_DATA_HOME": str(sh.directory / "data")}
    assert sh("tree", **elsewhere).status == 0
    assert not (sh.directory / "data").exists()
    (sh.directory / "data").touch()  # no directory can be made in a file, not even by root
    assert sh("tree", **elsewhere).status == 0
    doctor = sh("doctor", **elsewhere)
    assert (doctor.status, "it cannot be created" in doctor.out) == (1, True)
    done = sh("run", "-m", ScriptedShell(sh).script("Hello."), "x", **elsewhere)
    assert done.status == 30
    assert "cannot be made" in done.err
    assert "--db" in done.err


def test_a_missing_file_is_not_created(sh: Shell, tmp_path: Path) -> None:
    for words in (("convo", "ls"), ("tree",), ("search", "x"), ("delete", "a1b2c3")):
        done = sh("--db", "typo.db", *words)
        assert done.status == 3
        assert "typo.db" in done.err
    assert not (tmp_path / "typo.db").exists()


def test_files_that_are_no_store_are_one_line(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, only some words that somebody wrote\n" * 50)
    (tmp_path / "empty").mkdir()
    for name, status in (("notes.txt", (5, 30, 32)), ("empty", (30,))):
        done = sh("--db", name, "convo", "ls")
        assert done.status in status, done.err
        assert done.err.count("\n") == 1
        assert done.err.startswith("bough: ")
        assert "Traceback" not in done.err


@pytest.fixture
def read_only(kept: Shell, tmp_path: Path) -> Iterator[Shell]:
    """The history on a read-only store. Root ignores file modes, so root gets a read-only mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    sh = Shell(tmp_path, disk / "chats.db")
    if os.geteuid() != 0:
        shutil.copy(kept.db, sh.db)
        sh.db.chmod(0o400)
        disk.chmod(0o500)
        yield sh
        disk.chmod(0o700)
        return
    if subprocess.call(["mount", "-t", "tmpfs", "tmpfs", str(disk)]) != 0:
        pytest.skip("root may not mount here")
    shutil.copy(kept.db, sh.db)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    yield sh
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_read_only_store_is_read_and_not_changed(read_only: Shell, ids: dict[str, str]) -> None:
    assert ids["metres"] in read_only("convo", "ls").out
    assert ids["hornbeam"] in read_only("show", "cli:garden").out
    refused = read_only("delete", ids["loose"])
    assert refused.status == 5
    assert "reading only" in refused.err
    assert "• permissions" in read_only("doctor").out


@pytest.fixture
def hostile(sh: Shell) -> Shell:
    """A store in which every text that can be stored is hostile."""
    key = "cli:" + HOSTILE.replace("\0", "").replace("\ud800", "")
    with bough.connect(sh.db) as store:
        session = store.session(key, title=HOSTILE, model=HOSTILE.replace("\ud800", ""), agent="a\x1b[2J")
        ids = session.save_turn(
            [user(HOSTILE), assistant(bough.Thinking(HOSTILE), ToolCall("c\x1b[2J", HOSTILE, HOSTILE)),
             tool_result("c\x1b[2J", HOSTILE, error=True), assistant(f"# {HOSTILE}\n\n**{HOSTILE}**")],
            model="m\x1b[2J",
        )  # fmt: skip
        with suppress(RuntimeError), session.turn(HOSTILE):
            raise RuntimeError(HOSTILE)
        store.label(ids[0], HOSTILE)
        extra = store.session(key + "2")
        extra.save_turn([user("x"), assistant("y")])
        store.delete_session(extra.key)
    return sh


COMMANDS = [
    "convo ls", "convo ls --flat", "convo ls --json", "show --thinking --tools", "show --json", "sessions",
    "sessions --json", "search red", "stats", "restore", "clean -d 0 --dry-run", "export --all",
    "export --all -f md -o -", "show \x1b[31m", "fork \u202e",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS, ids=ascii)
def test_no_stored_escape_reaches_the_terminal(hostile: Shell, line: str) -> None:
    shown = COLOURS.sub("", seen(hostile, *line.split(" "), PAGER="cat"))
    assert shown.strip()
    assert not re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert "\x1b" not in shown


def test_output_on_a_server_equals_output_on_a_file(kept: Shell, postgres: str, namespace: str) -> None:
    on_server = fill(postgres, namespace=namespace)

    def server(*words: str) -> Done:
        return kept("--db", postgres, *words, BOUGH_NAMESPACE=namespace)

    def shape(done: Done) -> tuple[int, str, str]:
        """Status and output with ids and times masked."""
        return done.status, *(re.sub(r"\b[0-9a-z]{6}\b|\d\d:\d\d", "_", text) for text in (done.out, done.err))  # type: ignore[return-value]

    for line in ("ls --subagents", "show cli:garden --tools", "search oak"):
        assert shape(server(*line.split())) == shape(kept(*line.split())), line
    assert server("delete", on_server["metres"], "--cascade").status == 0
    assert server("restore", on_server["metres"]).status == 0
    assert server("fork", on_server["oaks"][:5], "--session", "again").out == "cli:again\n"
    assert server("db", "verify").status == 0
    assert on_server["oaks"] in kept("--db", f"{postgres}?namespace={namespace}", "ls").out
    checks = {one["name"]: one for one in json.loads(server("doctor", "--json").out)}
    assert checks["store"]["verdict"] == "ok"
    assert "20 messages in" in checks["store"]["detail"]
    nowhere = kept("--db", "postgresql://127.0.0.1:9/none", "ls")
    assert nowhere.status == 30
    assert nowhere.err.count("\n") == 1


def test_an_unreachable_server_is_one_line(sh: Shell) -> None:
    done = sh("conversations", "list", "--db", "postgresql://nobody:secret@127.0.0.1:1/none")
    assert done.status != 0
    assert "cannot be reached" in done.err
    assert "secret" not in done.err
    assert "Traceback" not in done.err
