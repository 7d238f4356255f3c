"""`bough export`: every format, directories and pipes, and no file overwritten."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import assistant, user
from bough.formats import names
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell

PNG = b"\x89PNG\r\n\x1a\n"


def test_jsonl_keeps_every_message_once_with_its_place(kept: Shell, ids: dict[str, str]) -> None:
    def messages(*words: str) -> list[dict[str, Any]]:
        records = [json.loads(line) for line in kept("export", *words).out.splitlines()]
        assert [kind for one in records for kind in ("session", "turn") if kind in one]
        return [one for one in records if "role" in one]

    path = messages(ids["hornbeam"])
    assert [one["id"] for one in path][-2:] == [ids["ash"], ids["hornbeam"]]
    assert path[1]["blocks"][0] == {"type": "thinking", "text": "A crown is 20 m."}
    both = messages(ids["hornbeam"], "cli:birches")
    assert len(both) == len({one["id"] for one in both}) == 8
    assert len(messages(ids["oaks"], "--branches")) == 8
    everything = messages("--all")
    assert len(everything) == len({one["id"] for one in everything}) == 20


@pytest.mark.parametrize("name", sorted(set(names()) - {"bough.jsonl"}))
def test_every_wire_format_is_json_and_reports_losses(kept: Shell, ids: dict[str, str], name: str) -> None:
    done = kept("export", ids["hornbeam"], "-f", name)
    assert done.status == 0, done.err
    assert json.loads(done.out)
    if "lost in" in done.err:
        assert kept("export", ids["hornbeam"], "-f", name, "--strict").status == 8


def test_markdown_html_and_atif_are_written(kept: Shell, ids: dict[str, str], tmp_path: Path) -> None:
    assert "Take hornbeam." in kept("export", "cli:garden", "--format", "md").out
    done = kept("export", "cli:garden", "-f", "html", "-o", "talk.html")
    assert (done.out, done.err) == ("", "Wrote talk.html\n")
    page = (tmp_path / "talk.html").read_text()
    assert "Five metres." in page
    assert "Five metres." not in kept("export", "cli:garden", "-f", "html", "--path").out
    assert json.loads(kept("export", "cli:garden", "-f", "atif").out)


def test_an_existing_file_is_not_replaced_without_force(kept: Shell, ids: dict[str, str], tmp_path: Path) -> None:
    before = kept.db.read_bytes()
    done = kept("export", ids["oaks"], "-f", "jsonl", "-o", str(kept.db))
    assert done.status == 5
    assert "--force" in done.err
    assert kept.db.read_bytes() == before
    (tmp_path / "old.json").write_text("old")
    assert kept("export", ids["oaks"], "-f", "jsonl", "--output", "old.json", "--force").status == 0
    assert (tmp_path / "old.json").read_text() != "old"


def test_several_go_into_a_directory(kept: Shell, ids: dict[str, str], tmp_path: Path) -> None:
    assert kept("export", ids["ulan"], ids["fine"], "-f", "md").status == 2
    assert kept("export", ids["ulan"], ids["fine"], "-f", "md", "-o", "talks/").status == 0
    assert {file.name for file in (tmp_path / "talks").iterdir()} == {f"{ids['ulan']}.md", f"{ids['fine']}.md"}
    assert kept("export", "--all", "-f", "openai.chat", "-o", "all").status == 0
    assert len(list((tmp_path / "all").iterdir())) == 5


def test_a_failed_export_leaves_no_file(kept: Shell, ids: dict[str, str], tmp_path: Path) -> None:
    assert kept("export", ids["fine"], "-f", "anthropic", "--branches", "-o", "x.json").status == 2
    assert kept("export", "-f", "md").status == 2
    assert kept("export", "nnnnnn").status == 3
    assert kept("export", ids["fine"], "-o", "no/such/directory.jsonl").status == 1
    assert not list(tmp_path.glob("x.json*"))


def test_the_directory_after_all_receives_everything(kept: Shell) -> None:
    assert kept("export", "--all", "pages", "-f", "html").status == 0
    assert len(list((kept.directory / "pages").glob("*.html"))) == 6  # with the index
    assert kept("export", "--all", "backup").status == 0
    assert (kept.directory / "backup" / "everything.jsonl").read_text() == kept("export", "--all").out
    twice = kept("export", "--all", "a", "-o", "b")
    assert twice.status != 0
    assert "one place" in twice.err


def test_an_empty_store_writes_no_file(sh: Shell, tmp_path: Path) -> None:
    done = sh("export", "--all", "pages", "-f", "html")
    assert (done.status, done.err) == (0, "There is nothing to export.\n")
    assert not (tmp_path / "pages").exists()


def test_bytes_are_base64_in_json(sh: Shell) -> None:
    talk = ScriptedShell(sh)
    (sh.directory / "dot.png").write_bytes(PNG)
    reply = talk.ask("run", "-m", talk.script("A dot."), "-i", "dot.png", "What is it?")
    payload = json.loads(sh("export", reply, "-f", "bedrock").out)
    assert base64.b64decode(payload[0]["content"][0]["image"]["source"]["bytes"]) == PNG


def test_links_and_pipes_are_written_through_and_not_replaced(kept: Shell, ids: dict[str, str]) -> None:
    link, real = kept.directory / "link.jsonl", kept.directory / "real.jsonl"
    real.write_text("old")
    link.symlink_to(real)
    assert kept("export", ids["ulan"], "-o", str(link)).status == 5
    assert kept("export", ids["ulan"], "-o", str(link), "--force").status == 0
    assert link.is_symlink()
    assert real.read_text() == kept("export", ids["ulan"], "-o", "-").out


@pytest.mark.parametrize(
    ("file", "start"), [("t.html", "<!doctype html>"), ("t.MD", "# "), ("t.jsonl", "{"), ("noending", "{")]
)
def test_the_ending_of_the_file_decides_the_format(kept: Shell, tmp_path: Path, file: str, start: str) -> None:
    assert kept("export", "cli:garden", "-o", file).status == 0
    assert (tmp_path / file).read_text().startswith(start)


@pytest.mark.parametrize(("file", "message"), [("t.pdf", "written as .pdf"), ("t.json", "name one with -f")])
def test_an_ending_without_a_format_is_an_error(kept: Shell, tmp_path: Path, file: str, message: str) -> None:
    done = kept("export", "cli:garden", "-o", file)
    assert done.status == 2
    assert message in done.err
    assert not (tmp_path / file).exists()
    assert kept("export", "cli:garden", "-f", "anthropic", "-o", file).status == 0


def test_everything_as_pages_has_an_index(sh: Shell, tmp_path: Path) -> None:
    with bough.connect(sh.db) as store:
        for words in ("<b>first</b> [x](y)", "second"):
            store.session(f"cli:{words[-3]}").save_turn([user(words), assistant("yes")])
    assert sh("export", "--all", "pages/", "-f", "html").status == 0
    index = (tmp_path / "pages/index.html").read_text()
    assert index.index("second") < index.index("&lt;b&gt;first")
    links = re.findall(r'href="(\w+\.html)"', index)
    assert sorted(links) == sorted(path.name for path in (tmp_path / "pages").iterdir() if path.name != "index.html")
    assert sh("export", "--all", "-o", "texts/", "-f", "md").status == 0
    assert r"\<b\>first\</b\> \[x\](y)" in (tmp_path / "texts/index.md").read_text()


def test_a_prepared_link_beside_the_output_is_not_followed(kept: Shell, ids: dict[str, str], tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    (tmp_path / "out.md.part").symlink_to(treasure)
    assert kept("export", ids["oaks"], "-o", str(tmp_path / "out.md")).status == 0
    assert treasure.read_text() == "mine"
    assert (tmp_path / "out.md.part").is_symlink()


def test_everything_is_written_as_tables(kept: Shell, tmp_path: Path) -> None:
    assert kept("export", "--all", "-o", "all.sqlite").err == "Wrote all.sqlite\n"
    with closing(sqlite3.connect(tmp_path / "all.sqlite")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM messages").fetchone()
    with bough.connect(kept.db) as store:
        assert count == store.size().messages
    assert kept("export", "--all", "-o", "all.sqlite").status == 5
    assert kept("export", "--all", "-o", "all.sqlite", "--force").status == 0
    assert kept("export", "--all", "tables/", "-f", "parquet").status == 0
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "messages.parquet", "replies.parquet", "sessions.parquet", "turns.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [["cli:garden", "-o", "a.sqlite"], ["--all", "-f", "parquet"]])
def test_tables_are_of_the_whole_store_and_need_a_place(kept: Shell, words: list[str]) -> None:
    done = kept("export", *words)
    assert done.status == 2
    assert "--all -o talks" in done.err
