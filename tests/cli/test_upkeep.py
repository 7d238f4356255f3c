"""`bough db`, `bough doctor`, and what every command does with a file that is not what it should be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import bough
from tests.cli.bough_process import Shell


def test_where_the_store_is_and_who_says_so(kept: Shell, tmp_path: Path) -> None:
    done = kept("db", "path")
    assert (done.out, done.err) == (f"{kept.db}\n", "(from $BOUGH_DB)\n")
    assert json.loads(kept("db", "path", "--json").out) == {"path": str(kept.db), "from": "$BOUGH_DB", "exists": True}
    assert kept("--db", "other.db", "db", "path").out == "other.db\n"
    assert kept("db", "path", "--db", "other.db").out == "other.db\n"
    (tmp_path / ".bough").write_text("near.db\n")
    assert kept("db", "path", BOUGH_DB="").out == f"{tmp_path}/near.db\n"
    (tmp_path / ".bough").unlink()
    config = tmp_path / "c.toml"
    config.write_text('[db]\npath = "configured.db"\n')
    assert kept("--config", str(config), "db", "path", BOUGH_DB="").out == f"{tmp_path}/configured.db\n"
    config.write_text('[db]\npaht = "x"\n')
    wrong = kept("--config", str(config), "db", "path", BOUGH_DB="")
    assert wrong.status == 10
    assert "path" in wrong.err


def test_a_sound_store_verifies_and_a_damaged_one_does_not(kept: Shell, ids: dict[str, str]) -> None:
    sound = kept("db", "verify")
    assert (sound.status, sound.out) == (0, "")
    assert "20 messages checked. Everything is what it was." in sound.err
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


def test_vacuum_and_migrate_say_what_they_did(kept: Shell) -> None:
    assert "→" in kept("db", "vacuum").err
    sizes = json.loads(kept("db", "vacuum", "--json").out)
    assert sizes["bytes_after"] > 0
    assert json.loads(kept("db", "migrate", "--json").out)["schema"] >= 1
    assert "schema" in kept("db", "migrate").err


def test_upkeep_of_what_is_not_there_is_an_error(sh: Shell) -> None:
    for verb in ("verify", "backup", "vacuum", "migrate"):
        assert sh("db", verb).status == 3
    assert not sh.db.exists()
    assert "not made yet" in sh("db", "path").err


def test_a_file_that_was_named_and_is_not_there_is_not_made(sh: Shell, tmp_path: Path) -> None:
    for words in (("convo", "ls"), ("tree",), ("search", "x"), ("delete", "a1b2c3")):
        done = sh("--db", "typo.db", *words)
        assert done.status == 3
        assert "typo.db" in done.err
    assert not (tmp_path / "typo.db").exists()


def test_files_of_other_sorts_are_one_clear_line(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, only some words that somebody wrote\n" * 50)
    (tmp_path / "empty").mkdir()
    for name, status in (("notes.txt", (5, 30, 32)), ("empty", (30,))):
        done = sh("--db", name, "convo", "ls")
        assert done.status in status, done.err
        assert done.err.count("\n") == 1
        assert done.err.startswith("bough: ")
        assert "Traceback" not in done.err


def test_the_doctor_looks_at_everything_and_never_shows_a_key(kept: Shell) -> None:
    done = kept("doctor", OPENAI_API_KEY="sk-secret-value")
    assert done.status == 0, done.out
    assert "OPENAI_API_KEY" in done.out
    assert "sk-secret-value" not in done.out + done.err
    checks = {one["name"]: one["verdict"] for one in json.loads(kept("doctor", "--json").out)}
    assert {"bough", "SQLite", "store", "file", "disk", "configuration", "keys"} <= checks.keys()


def test_the_doctor_says_what_is_wrong_and_fails(kept: Shell, sh: Shell, tmp_path: Path) -> None:
    kept.db.chmod(0o644)
    done = kept("doctor")
    assert done.status == 1
    assert "chmod 600" in done.out
    (tmp_path / "junk").write_text("junk " * 1000)
    broken = sh("--db", "junk", "doctor")
    assert broken.status == 1
    assert "✗ store" in broken.out
    wrong = tmp_path / "c.toml"
    wrong.write_text("[run]\nmodle = 'x'\n")
    told = kept("--config", str(wrong), "doctor").out
    assert "✗ settings" in told
    assert told.count(str(wrong)) == 1
    directory = sh("--db", str(tmp_path), "doctor").out
    assert "✗ file           it is a directory; name a file in it" in directory
    assert "chmod" not in directory


def test_an_output_that_cannot_be_written_is_one_line(kept: Shell, ids: dict[str, str]) -> None:
    def shell(line: str) -> tuple[int, str, str]:
        done = subprocess.run(
            ["bash", "-c", line.replace("bough", f"{sys.executable} -m bough", 1)],
            cwd=kept.directory, env=kept.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    for line in ("bough ls > /dev/full", "bough sessions > /dev/full", f"bough export {ids['oaks']} -o /dev/full"):
        status, _, complained = shell(line)
        assert status == 1, line
        assert "No space left on device" in complained
        assert "Traceback" not in complained
    assert not Path("/dev/full").is_file()
    assert shell("bough ls >&-")[0] == 0
    assert "subagents" not in shell("bough ls 2>&-")[1]


def test_an_export_through_a_link_or_into_a_pipe_leaves_them_what_they_are(kept: Shell, ids: dict[str, str]) -> None:
    link, real = kept.directory / "link.jsonl", kept.directory / "real.jsonl"
    real.write_text("old")
    link.symlink_to(real)
    assert kept("export", ids["ulan"], "-o", str(link)).status == 5
    assert kept("export", ids["ulan"], "-o", str(link), "--force").status == 0
    assert link.is_symlink()
    assert real.read_text() == kept("export", ids["ulan"], "-o", "-").out
