"""`bough import`: reports, repeated imports, dry runs, damaged files, stdin and --watch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest

import bough
from bough.cli.commands.import_run import ImportRun
from bough.cli.exits import STATUSES
from bough.importers import detect
from bough.importers.directories import Found
from tests.cli.bough_process import Shell
from tests.importers.sample import Sample
from tests.importers.samples import SAMPLES

CHAT = {"messages": [{"role": "user", "content": "What is a bough?"}, {"role": "assistant", "content": "A branch."}]}
MORE = {"messages": [*CHAT["messages"], {"role": "user", "content": "Big?"}, {"role": "assistant", "content": "Yes."}]}
OTHER = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps(CHAT) + "\n{torn\n" + json.dumps(OTHER) + "\n")
    return path


def test_imported_and_skipped_conversations_are_counted(sh: Shell, chats: Path) -> None:
    done = sh("import", "chats.jsonl")
    assert done.status == 0
    assert done.out == "Chat files and datasets: 2 conversations (2 new), added 4 messages, skipped 1  chats.jsonl\n"
    assert "skipped chats.jsonl:2: " in done.err
    with bough.connect(sh.db) as store:
        assert len(store.sessions()) == 2


def test_a_repeated_import_adds_only_what_is_new(sh: Shell, chats: Path) -> None:
    sh("import", "chats.jsonl")
    again = sh("import", "chats.jsonl")
    assert (again.status, "2 known), added 0 messages" in again.out) == (0, True)
    chats.write_text(json.dumps(MORE) + "\n")
    assert "1 conversation (1 grown), added 2 messages" in sh("import", "chats.jsonl").out


def test_a_damaged_file_beside_a_good_one_is_not_passed_over(sh: Shell, chats: Path) -> None:
    (chats.parent / "all").mkdir()
    chats.rename(chats.parent / "all" / "chats.jsonl")
    (chats.parent / "all" / "torn.zip").write_bytes(b"PK\x03\x04 and no more")
    done = sh("import", "all")
    assert (done.status, "added 4 messages" in done.out) == (STATUSES["import"], True)
    assert "torn.zip' is damaged" in done.err


def test_a_dry_run_writes_nothing(sh: Shell, chats: Path) -> None:
    for words in (), ("--db", "unheard-of.db"):
        assert "(2 new), would add 4 messages" in sh(*words, "import", "--dry-run", "chats.jsonl").out
    assert [path.name for path in sh.directory.glob("*.db*")] == []
    chats.write_text("".join(json.dumps(chat) + "\n" for chat in (CHAT, MORE, CHAT)))
    assert "would add 4 messages" in sh("import", "--dry-run", "chats.jsonl").out


def test_the_result_is_json_when_asked(sh: Shell, chats: Path) -> None:
    (one,) = json.loads(sh("import", "--json", "chats.jsonl").out)
    assert (one["source"], one["conversations"], one["new"], one["messages"]) == (
        "chats", 2, 2, {"added": 4, "known": 0},
    )  # fmt: skip
    assert one["skipped"][0]["place"] == "chats.jsonl:2"


def test_what_was_deleted_comes_back_only_when_asked(sh: Shell, chats: Path) -> None:
    sh("import", "chats.jsonl")
    with bough.connect(sh.db) as store:
        store.delete_session(store.sessions()[0].key)
    assert "(1 known, 1 deleted), added 0 messages" in sh("import", "chats.jsonl").out
    assert "(1 new, 1 known), added 2 messages" in sh("import", "--again", "chats.jsonl").out


def test_nothing_found_is_an_error(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("{}\n")
    done = sh("import", "--from", "openai-chat", "empty.jsonl")
    assert done.status == STATUSES["import"]
    assert "0 conversations were found" in done.err
    assert sh("import", "missing.json").status == STATUSES["import"]
    assert "looks like none" in sh("import", "empty.jsonl").err
    assert "There is no importer 'x'" in sh("import", "--from", "x", "empty.jsonl").err


def test_an_empty_path_is_not_the_current_directory(sh: Shell, chats: Path) -> None:
    done = sh("import", "")
    assert (done.status, done.out) == (STATUSES["import"], "")
    assert "empty path" in done.err


def test_a_directory_with_files_of_several_programs_is_reported_by_program(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for source in ("claude-code", "chatgpt", "chats", "codex"):
        one = next(sample for sample in SAMPLES if sample.source == source)
        (tmp_path / "all" / source).mkdir()
        one.make(tmp_path / "all" / source)
    results = json.loads(sh("import", "--json", "all").out)
    assert {one["source"] for one in results if one["conversations"]} == {"claude-code", "chatgpt", "chats", "codex"}
    assert not any(skipped["place"].endswith("chats.json") for one in results for skipped in one["skipped"])


def test_one_bad_path_does_not_keep_the_others_out(sh: Shell, chats: Path) -> None:
    done = sh("import", "missing.json", "chats.jsonl")
    assert (done.status, "2 new" in done.out) == (STATUSES["import"], True)
    assert "missing.json" in done.err


def test_a_directory_of_exports_and_a_zip_and_stdin_are_read(sh: Shell, chats: Path, tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    chats.rename(tmp_path / "exports" / "a.jsonl")
    (tmp_path / "exports" / "notes.txt").write_text("nothing")
    assert "2 new" in sh("import", "exports").out
    more = json.dumps(MORE) + "\n"
    assert "1 grown" in sh("import", "-", stdin=more).out
    with zipfile.ZipFile(tmp_path / "chats.zip", "w") as archive:
        archive.writestr("a.jsonl", more)
    assert "1 known" in sh("import", "--from", "openai-chat", "chats.zip").out


def test_without_a_path_and_without_programs_nothing_is_found(sh: Shell) -> None:
    done = sh("import")
    assert done.status == 0
    assert "bough import PATH" in done.err
    assert json.loads(sh("import", "--json").out) == []


@pytest.fixture
def machine(sh: Shell) -> Path:
    """A home directory with sessions of two known programs, and one of a program that is not supported."""
    home = sh.directory  # which is the home directory of these processes
    project = home / ".claude" / "projects" / "-home-me"
    project.mkdir(parents=True)
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "timestamp": "2026-01-01T10:00:00.5Z"}
    reply = {
        **line,
        "type": "assistant",
        "uuid": "a1",
        "parentUuid": "u1",
        "message": {"role": "assistant", "content": "yo"},
    }
    lines = [{**line, "message": {"role": "user", "content": "hi"}}, reply]
    (project / "s.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    next(one for one in SAMPLES if one.source == "pi").make(home / ".pi" / "agent")
    (home / ".continue" / "sessions").mkdir(parents=True)
    return home


def test_known_programs_are_found_and_imported_after_one_question(sh: Shell, machine: Path) -> None:
    done = sh("import")
    assert "Claude Code: 1 file, 1 new or changed" in done.err
    assert "pi: 1 file, 1 new or changed" in done.err
    assert "Continue: cannot be imported" in done.err
    child = pexpect.spawn(
        sys.executable, ["-m", "bough", "import"], cwd=str(sh.directory), env=sh.environment, timeout=30,
        encoding="utf-8",
    )  # fmt: skip
    child.expect("Import what is new")
    child.sendline("y")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    with bough.connect(sh.db) as store:
        assert {info.key.partition(":")[0] for info in store.sessions()} == {"claude-code", "pi"}
    again = sh("import", "--discover", "--yes")
    assert "Claude Code: nothing new, 1 file unchanged" in again.out
    assert {(one["source"], one["new"]) for one in json.loads(sh("import", "--json").out)} == {
        ("claude-code", 0), ("pi", 0),
    }  # fmt: skip


def test_all_programs_of_a_machine_are_watched(sh: Shell, machine: Path) -> None:
    words = [sys.executable, "-m", "bough", "import", "--yes", "--watch"]
    environment = sh.environment | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        words, cwd=sh.directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        while "Watching" not in process.stderr.readline():
            pass
        file = next((machine / ".claude").rglob("s.jsonl"))
        more = {"type": "user", "uuid": "u2", "parentUuid": "a1", "sessionId": "s", "timestamp": "2026-01-01T10:00:09Z"}
        with file.open("a") as lines:
            lines.write(json.dumps({**more, "message": {"role": "user", "content": "more"}}) + "\n")
        while "added 1 message" not in process.stdout.readline():
            assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 0
    with bough.connect(sh.db) as store:
        assert {info.key.partition(":")[0] for info in store.sessions()} == {"claude-code", "pi"}


def test_of_a_directory_only_changed_files_are_read_again(sh: Shell, chats: Path) -> None:
    (chats.parent / "all").mkdir()
    first, second = chats.parent / "all" / "a.jsonl", chats.parent / "all" / "b.jsonl"
    first.write_text(json.dumps(CHAT) + "\n")
    second.write_text(json.dumps(OTHER) + "\n")
    (chats.parent / "all" / "notes.md").write_text("nobody's")
    sh("import", "all")
    assert "nothing new, 2 files unchanged since the last import" in sh("import", "all").out
    state = first.stat()
    first.write_text(json.dumps(MORE) + "\n")
    done = sh("import", "--json", "all")
    results = json.loads(done.out)
    assert sum(one["messages"]["added"] for one in results) == 2
    tail = first.read_text().replace("Yes.", "Yes!")
    state = first.stat()
    first.write_text(tail)
    os.utime(first, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert sum(one["messages"]["added"] for one in json.loads(sh("import", "--json", "all").out)) == 1
    with bough.connect(sh.db) as store:
        store.delete_session(store.sessions()[0].key)
    assert "nothing new" in sh("import", "all").out
    assert "new" in sh("import", "--again", "all").out


def test_a_file_of_a_program_that_is_not_supported_is_named_as_such(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "x.conversation.json").write_text("{}")
    done = sh("import", "x.conversation.json")
    assert (done.status, "is a file of LM Studio" in done.err) == (STATUSES["import"], True)


@pytest.mark.parametrize("sample", {sample.source: sample for sample in SAMPLES}.values(), ids=str)
def test_a_progress_bar_on_a_terminal_changes_no_result(sh: Shell, tmp_path: Path, sample: Sample) -> None:
    (tmp_path / "sample").mkdir()
    path = sample.make(tmp_path / "sample")
    child = pexpect.spawn(
        sys.executable, ["-m", "bough", "import", str(path)], cwd=str(tmp_path), env=sh.environment, timeout=30,
        encoding="utf-8",
    )  # fmt: skip
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, child.before
    with bough.connect(sh.db) as store:
        assert sum(1 for _ in store.list_messages()) == sample.messages


def test_appended_conversations_of_a_watched_file_are_imported(sh: Shell, chats: Path) -> None:
    words = [sys.executable, "-m", "bough", "import", "--watch", "chats.jsonl"]
    environment = sh.environment | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        words, cwd=sh.directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        assert "2 new" in process.stdout.readline()
        while "Watching" not in process.stderr.readline():
            pass
        with chats.open("a") as file:
            file.write(json.dumps(MORE) + "\n")
        assert "added 2 messages" in process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(10) == 0


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_dry_run_counts_what_an_import_adds(sample: Sample, tmp_path: Path) -> None:
    path = sample.make(tmp_path)
    with bough.connect(":memory:") as store:
        expected = ImportRun(store, dry_run=True).read(Found(detect(path), path), lambda *_: None)
        assert next(store.list_messages(), None) is None
        counts = ImportRun(store).read(Found(detect(path), path), lambda *_: None)
    assert expected.added == counts.added == sample.messages
