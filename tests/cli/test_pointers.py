"""`.bough` files: only one that this user made here, or allowed, decides where conversations go."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bough.cli.exits import STATUSES
from tests.cli.bough_process import Done, Shell


@pytest.fixture
def repository(sh: Shell) -> Path:
    """A cloned repository, whose files belong to whoever cloned it."""
    inner = sh.directory / "repository" / "src"
    inner.mkdir(parents=True)
    (sh.directory / "script.txt").write_text("An answer.\n" * 20)
    return inner.parent


def ask(sh: Shell, directory: Path, **more: str) -> Done:
    there = Shell(directory, sh.db)
    script = f"scripted:{sh.directory}/script.txt"
    return there("run", "-m", script, "a secret question", HOME=str(sh.directory), BOUGH_DB="", **more)


def stores(sh: Shell) -> set[str]:
    return {str(path.relative_to(sh.directory)) for path in sh.directory.rglob("*.db")}


USUAL = ".local/share/bough/bough.db"


@contextmanager
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_a_repositorys_pointer_to_a_server_is_passed_over(sh: Shell, repository: Path) -> None:
    with listening() as server:
        (repository / ".bough").write_text(f"postgresql://127.0.0.1:{server.getsockname()[1]}/anything\n")
        done = ask(sh, repository / "src", PGPASSWORD="the-password")
        with pytest.raises(BlockingIOError):
            server.accept()
    assert done.status == 0
    passed_over = [line for line in done.err.splitlines() if "passed over" in line]
    assert len(passed_over) == 1
    assert f"bough db allow {repository}/.bough" in passed_over[0]
    assert stores(sh) == {USUAL}


def test_a_repositorys_pointer_to_a_file_is_used_only_when_allowed_and_unchanged(sh: Shell, repository: Path) -> None:
    pointer = repository / ".bough"
    pointer.write_text("theirs.db\n")
    assert ask(sh, repository / "src").status == 0
    assert stores(sh) == {USUAL}
    allowed = sh("db", "allow", "repository/.bough", "--json")
    assert json.loads(allowed.out) == {"file": str(pointer), "store": str(repository / "theirs.db")}
    done = ask(sh, repository / "src")
    assert "passed over" not in done.err
    assert stores(sh) == {USUAL, "repository/theirs.db"}
    pointer.write_text("elsewhere.db\n")
    assert "passed over" in ask(sh, repository / "src").err
    assert "repository/elsewhere.db" not in stores(sh)


def test_an_allowed_pointer_further_up_is_found_behind_one_that_is_passed_over(sh: Shell, repository: Path) -> None:
    assert sh("db", "init", "--here", "--db", "mine.db").status == 0
    (repository / ".bough").write_text("theirs.db\n")
    assert "passed over" in ask(sh, repository / "src").err
    assert stores(sh) == {"mine.db"}


def test_what_bough_makes_here_is_used_without_asking(sh: Shell, repository: Path) -> None:
    made = sh("db", "init", "--here", BOUGH_DB="")
    assert (made.status, (sh.directory / ".bough").read_text()) == (0, ".bough.db\n")
    done = ask(sh, repository / "src")
    assert (done.status, "passed over" in done.err) == (0, False)
    assert stores(sh) == {".bough.db"}
    again = sh("db", "init", "--here")
    assert (again.status, "exists and was not changed" in again.err) == (STATUSES["refused"], True)
    server = Shell(repository, sh.db)("db", "init", "--here", "--db", "postgresql://host/db")
    assert (server.status, "creates a file" in server.err) == (STATUSES["invalid"], True)
    assert not (repository / ".bough").exists()


def test_another_place_of_the_same_pointer_is_not_allowed(sh: Shell, repository: Path) -> None:
    for directory in (sh.directory, repository):
        (directory / ".bough").write_text("named.db\n")
    assert sh("db", "allow", ".bough").status == 0
    assert "passed over" in ask(sh, repository / "src").err
    assert stores(sh) == {"named.db"}


def test_the_list_is_private_and_can_be_shown_and_shortened(sh: Shell, repository: Path) -> None:
    for directory in (sh.directory, repository):
        (directory / ".bough").write_text("named.db\n")
        assert sh("db", "allow", str(directory)).status == 0
    kept = sh.directory / ".local/share/bough/allowed.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    (repository / ".bough").write_text("changed.db\n")
    listed = sh("db", "allow", "--list").out.splitlines()
    assert listed == [f"{sh.directory}/.bough", f"{repository}/.bough (changed)"]
    (repository / ".bough").unlink()
    assert json.loads(sh("db", "allow", "--json").out)[1] == {"file": f"{repository}/.bough", "state": "missing"}
    assert sh("db", "allow", "--remove", ".bough").err == "Removed.\n"
    assert sh("db", "allow", "--remove", ".bough").err == "It was not on the list.\n"
    assert "passed over" in sh("db", "path", BOUGH_DB="").err


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b"[db]\npath = 3\n", b"\x1b]0;x\x07.db"])
def test_a_pointer_that_names_no_store_cannot_be_allowed(sh: Shell, content: bytes) -> None:
    (sh.directory / ".bough").write_bytes(content)
    done = sh("db", "allow", ".bough")
    assert (done.status, "names no store" in done.err) == (STATUSES["invalid"], True)
    assert sh("db", "allow", "nowhere/.bough").status == STATUSES["not_found"]
    assert sh("convo", "ls", BOUGH_DB="").status == 0


def test_a_pointer_that_cannot_be_read_is_passed_over(sh: Shell) -> None:
    pointer = sh.directory / ".bough"
    pointer.write_text("theirs.db\n")
    pointer.chmod(0)
    assert sh("db", "path", BOUGH_DB="").out == f"{sh.directory}/{USUAL}\n"


def test_path_doctor_and_completion_tell_data_from_notes(sh: Shell) -> None:
    (sh.directory / ".bough").write_text("theirs.db\n")
    path = sh("db", "path", "--json", BOUGH_DB="")
    assert json.loads(path.out)["passed_over"] == [f"{sh.directory}/.bough"]
    checks = json.loads(sh("doctor", "--json", BOUGH_DB="").out)
    assert [one["verdict"] for one in checks if one["name"] == "pointer"] == ["hint"]
    words = {"_BOUGH_COMPLETE": "bash_complete", "COMP_WORDS": "bough show a", "COMP_CWORD": "2"}
    assert sh(BOUGH_DB="", **words).err == ""
    assert stores(sh) == set()


def test_a_damaged_list_is_an_error(sh: Shell) -> None:
    (sh.directory / ".bough").write_text("theirs.db\n")
    kept = sh.directory / ".local/share/bough/allowed.json"
    for damaged in ("[]", "{"):
        os.makedirs(kept.parent, exist_ok=True)
        kept.write_text(damaged)
        done = sh("db", "path", BOUGH_DB="")
        assert (done.status, str(kept) in done.err) == (STATUSES["invalid"], True)
