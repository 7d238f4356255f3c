"""The command line on a PostgreSQL server: a URL where a file would stand."""

from __future__ import annotations

import json
import re

from tests.cli.bough_process import Done, Shell
from tests.cli.history import fill


def test_a_store_on_a_server_is_made_and_looked_after(sh: Shell, postgres: str, namespace: str) -> None:
    url = f"{postgres}?namespace={namespace}"
    assert json.loads(sh("db", "init", "--db", url, "--json").out) == {"path": url, "distributed": []}
    assert sh("db", "verify", "--db", url).status == 0
    assert sh("db", "vacuum", "--db", url).status == 0
    assert sh("conversations", "list", "--db", url).status == 0


def test_a_server_without_the_extension_says_why_it_is_not_distributed(sh: Shell, postgres: str) -> None:
    done = sh("db", "init", "--distributed", "--db", postgres)
    assert done.status != 0
    assert "no Citus extension" in done.err
    assert "Traceback" not in done.err


def test_a_file_cannot_be_distributed(sh: Shell) -> None:
    done = sh("db", "init", "--distributed", "--db", "a.db")
    assert done.status != 0
    assert "is a file" in done.err


def test_a_server_that_is_not_there_is_one_line(sh: Shell) -> None:
    done = sh("conversations", "list", "--db", "postgresql://nobody:secret@127.0.0.1:1/none")
    assert done.status != 0
    assert "cannot be reached" in done.err
    assert "secret" not in done.err
    assert "Traceback" not in done.err


def test_a_backup_of_a_server_says_how_it_is_made(sh: Shell, postgres: str) -> None:
    done = sh("db", "backup", "copy.db", "--db", postgres)
    assert done.status != 0
    assert "pg_dump" in done.err
    assert not (sh.directory / "copy.db").exists()


def test_commands_say_on_a_server_what_they_say_on_a_file(kept: Shell, postgres: str, namespace: str) -> None:
    on_server = fill(postgres, namespace=namespace)

    def server(*words: str) -> Done:
        return kept("--db", postgres, *words, BOUGH_NAMESPACE=namespace)

    def shape(done: Done) -> tuple[int, str, str]:
        """What was said, but for the ids and the times."""
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
