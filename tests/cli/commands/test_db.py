"""`bough db`: path, init, verify, backup, vacuum, migrate and copy, of files and of servers."""

from __future__ import annotations

import json
from pathlib import Path

import apsw

import bough
from tests.cli.bough_process import Shell


def test_path_prints_the_store_and_its_origin(kept: Shell, tmp_path: Path) -> None:
    done = kept("db", "path")
    assert (done.out, done.err) == (f"{kept.db}\n", "(from $BOUGH_DB)\n")
    found = {"path": str(kept.db), "from": "$BOUGH_DB", "exists": True, "passed_over": []}
    assert json.loads(kept("db", "path", "--json").out) == found
    assert kept("--db", "other.db", "db", "path").out == "other.db\n"
    assert kept("db", "path", "--db", "other.db").out == "other.db\n"
    (tmp_path / ".bough").write_text("near.db\n")
    assert kept("db", "allow", ".bough").status == 0
    assert kept("db", "path", BOUGH_DB="").out == f"{tmp_path}/near.db\n"
    (tmp_path / ".bough").unlink()
    config = tmp_path / "c.toml"
    config.write_text('[db]\npath = "configured.db"\n')
    assert kept("--config", str(config), "db", "path", BOUGH_DB="").out == f"{tmp_path}/configured.db\n"
    config.write_text('[db]\npaht = "x"\n')
    wrong = kept("--config", str(config), "db", "path", BOUGH_DB="")
    assert wrong.status == 10
    assert "path" in wrong.err


def test_the_password_of_a_server_is_not_printed(sh: Shell) -> None:
    for url, shown in (
        ("postgresql://me:se/s@me@host/chats?namespace=a", "postgresql://me:***@host/chats?namespace=a"),
        (
            "postgresql://host/chats?password=sesame&sslmode=require",
            "postgresql://host/chats?password=***&sslmode=require",
        ),
        ("postgres://me@host/chats", "postgres://me@host/chats"),
    ):
        assert sh("db", "path", "--db", url).out == f"{shown}\n"
        assert json.loads(sh("db", "path", "--db", url, "--json").out)["path"] == shown


def test_a_sound_store_verifies_and_a_damaged_one_does_not(kept: Shell, ids: dict[str, str]) -> None:
    sound = kept("db", "verify")
    assert (sound.status, sound.out) == (0, "")
    assert "20 messages checked. No problems found." in sound.err
    with bough.connect(kept.db) as store:
        store.db._use().execute("UPDATE messages SET content = 'forged' WHERE content = 'Take hornbeam.'")  # type: ignore[attr-defined]
    damaged = kept("db", "verify")
    assert damaged.status == 1
    assert damaged.out.startswith(f"digest: {ids['hornbeam']}")
    (finding,) = json.loads(kept("db", "verify", "--json", "--repair").out)
    assert (finding["code"], finding["repaired"]) == ("digest", False)


def test_a_backup_is_a_store_and_never_overwrites(kept: Shell, tmp_path: Path) -> None:
    assert kept("db", "backup", "copy.db").out == "copy.db\n"
    assert kept("--db", "copy.db", "convo", "ls").out == kept("convo", "ls").out
    assert kept("db", "backup", "copy.db").status == 5
    made = json.loads(kept("db", "backup", "--json").out)
    assert made["path"].startswith(str(kept.db))
    assert Path(made["path"]).stat().st_size == made["bytes"]


def test_vacuum_and_migrate_report_their_results(kept: Shell) -> None:
    assert "→" in kept("db", "vacuum").err
    sizes = json.loads(kept("db", "vacuum", "--json").out)
    assert sizes["bytes_after"] > 0
    assert json.loads(kept("db", "migrate", "--json").out)["schema"] >= 1
    assert "schema" in kept("db", "migrate").err


def test_maintenance_of_a_missing_store_is_an_error(sh: Shell) -> None:
    for verb in ("verify", "backup", "vacuum", "migrate"):
        assert sh("db", verb).status == 3
    assert not sh.db.exists()
    assert "does not exist yet" in sh("db", "path").err


def test_a_store_on_a_server_is_created_verified_and_vacuumed(sh: Shell, postgres: str, namespace: str) -> None:
    url = f"{postgres}?namespace={namespace}"
    assert json.loads(sh("db", "init", "--db", url, "--json").out) == {"path": url, "distributed": []}
    assert sh("db", "verify", "--db", url).status == 0
    assert sh("db", "vacuum", "--db", url).status == 0
    assert sh("conversations", "list", "--db", url).status == 0


def test_a_server_without_the_extension_reports_why_it_is_not_distributed(sh: Shell, postgres: str) -> None:
    done = sh("db", "init", "--distributed", "--db", postgres)
    assert done.status != 0
    assert "no Citus extension" in done.err
    assert "Traceback" not in done.err


def test_a_file_cannot_be_distributed(sh: Shell) -> None:
    done = sh("db", "init", "--distributed", "--db", "a.db")
    assert done.status != 0
    assert "is a file" in done.err


def test_a_backup_of_a_server_names_pg_dump(sh: Shell, postgres: str) -> None:
    done = sh("db", "backup", "copy.db", "--db", postgres)
    assert done.status != 0
    assert "pg_dump" in done.err
    assert not (sh.directory / "copy.db").exists()


def test_a_store_is_copied_to_a_server_and_back_and_verified(kept: Shell, postgres: str, namespace: str) -> None:
    there = kept("db", "copy", "chats.db", postgres, "--target-namespace", namespace)
    assert (there.status, there.out) == (0, "")
    assert "Verified." in there.err
    back = kept("db", "copy", postgres, "again.db", "--source-namespace", namespace, "--json")
    assert back.status == 0
    with bough.connect(kept.db) as before, bough.connect(kept.directory / "again.db") as after:
        assert list(after.list_messages()) == list(before.list_messages())
        assert json.loads(back.out)["messages"] == len(list(before.list_messages()))


def test_copying_again_brings_only_what_is_new(kept: Shell) -> None:
    assert kept("db", "copy", "chats.db", "copy.db").status == 0
    with bough.connect(kept.db) as store:
        store.session("cli:new").save_turn([bough.user("new"), bough.assistant("newer")])
    assert json.loads(kept("db", "copy", "chats.db", "copy.db", "--json").out)["messages"] == 2


def test_a_damaged_copy_is_not_verified(kept: Shell) -> None:
    with bough.connect(kept.db) as store:
        store.session("cli:new").save_turn([bough.user("oak " * 10_000), bough.assistant("long")])
    assert kept("db", "copy", "chats.db", "copy.db").status == 0
    connection = apsw.Connection(str(kept.directory / "copy.db"))
    connection.execute("UPDATE blob_bytes SET bytes = x'00'")
    connection.close()
    again = kept("db", "copy", "chats.db", "copy.db")
    assert again.status != 0
    assert "The copy is damaged" in again.err
    assert "Verified" not in again.err


def test_a_missing_source_creates_no_file(sh: Shell) -> None:
    done = sh("db", "copy", "nowhere.db", "copy.db")
    assert done.status != 0
    assert "no store at 'nowhere.db'" in done.err
    assert not (sh.directory / "copy.db").exists()


def test_a_target_with_a_history_of_its_own_is_refused(kept: Shell) -> None:
    with bough.connect(kept.directory / "own.db") as store:
        store.session("cli:own").save_turn([bough.user("mine"), bough.assistant("own")])
    done = kept("db", "copy", "chats.db", "own.db")
    assert done.status != 0
    assert "history of its own" in done.err
