"""Rules of every command: words, the location of the store, errors and exit statuses."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pexpect  # type: ignore[import-untyped]
import pytest

import bough
from bough.cli import pointers
from bough.cli.argv import resolve
from bough.cli.exits import STATUSES, run, status_of
from bough.cli.locate import Locator
from bough.errors import BoughError, Full, NotFound
from tests.cli.bough_process import Shell
from tests.cli.terminal import spawn

COMMANDS = ("conversations", "tree", "search", "show", "run", "fork")


def test_version_and_help_are_printed_and_succeed(sh: Shell) -> None:
    assert sh("--version").out == f"bough {bough.__version__}\n"
    assert sh("--db", "x", "--version").out == f"bough {bough.__version__}\n"
    assert "Look:" in sh("--help").out
    assert "SHELL" in sh("help", "completion").out.upper()


@pytest.mark.parametrize(
    "words", [["why is the sky blue"], ["-n", "hi"], ["-c", "a1b2c3", "hi"], ["-G", "hi"], ["--", "tree"]]
)
def test_a_first_word_that_is_not_a_command_starts_a_prompt(words: list[str]) -> None:
    assert resolve(words, COMMANDS) == ["run", *words]
    assert resolve(["--db", "x.db", *words], COMMANDS) == ["--db", "x.db", "run", *words]
    assert resolve(["--db=x.db", *words], COMMANDS) == ["--db=x.db", "run", *words]


@pytest.mark.parametrize(
    "word", ["tre", "serach", "TREE", "conversatins", "list", "rm", "fokr", "version", "logs", "history", "grep"]
)
def test_a_misspelt_command_is_not_sent_to_a_model(word: str) -> None:
    with pytest.raises(click.UsageError, match="did you mean"):
        resolve([word, "x"], COMMANDS)


def test_a_command_line_with_a_command_is_unchanged() -> None:
    assert resolve(["tree", "-c"], COMMANDS) == ["tree", "-c"]
    assert resolve(["help", "tree"], COMMANDS) == ["tree", "--help"]
    assert resolve(["--help"], COMMANDS) == ["--help"]


def test_every_error_of_bough_has_an_exit_status() -> None:
    def below(cls: type[BoughError]) -> list[type[BoughError]]:
        return [cls, *(lower for child in cls.__subclasses__() for lower in below(child))]

    assert all(status_of(cls()) for cls in below(BoughError))
    assert status_of(NotFound()) == 3
    assert status_of(Full()) == STATUSES["full"]

    class Unlisted(Full):
        """A new kind of full."""

        code = "unlisted"

    assert status_of(Unlisted()) == STATUSES["full"]


def test_a_wrong_option_is_one_line_and_status_2(sh: Shell) -> None:
    done = sh("completion", "--nonsense")
    assert (done.status, done.out) == (2, "")
    assert done.err == "bough: No such option '--nonsense'. See `bough completion --help`.\n"


def test_the_error_for_an_unknown_command_lists_the_commands(sh: Shell) -> None:
    done = sh("convo", "lits")
    assert done.status == 2
    assert "'lits' is not a command; did you mean 'list'?" in done.err
    assert "the commands are list, show, delete" in sh("convo", "bogus").err
    assert sh("db", "bogus").status == 2


def write_allowed(pointer: Path, content: str) -> None:
    pointer.write_text(content)
    pointers.allow(pointer, content.encode())


def test_the_precedence_of_flag_variable_pointer_and_default_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("BOUGH_DB", raising=False)
    assert Locator().find().where.startswith(str(tmp_path))
    write_allowed(tmp_path / "a" / ".bough", "notes.db\n")
    assert Locator().find().where == str(tmp_path / "a" / "notes.db")
    write_allowed(inner / ".bough", '[db]\npath = "/elsewhere/x.db"\n')
    assert Locator().find().where == "/elsewhere/x.db"
    write_allowed(inner / ".bough", "postgresql://somewhere/db\n")
    assert Locator().find().where == "postgresql://somewhere/db"
    monkeypatch.setenv("BOUGH_DB", "env.db")
    assert (Locator().find().where, Locator().find().source) == ("env.db", "$BOUGH_DB")
    assert Locator("named.db").find().where == "named.db"


def test_ctrl_c_during_startup_shows_no_traceback(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    done = sh("ls", PYTHONPATH=str(tmp_path))
    assert (done.status, done.out, done.err) == (130, "", "")


def test_version_and_lists_import_nothing_heavy(kept: Shell) -> None:
    heavy = {"prompt_toolkit", "httpx2", "asyncio", "mcp", "psycopg", "sqlite3", "genai_prices"}
    for words, more in ((["--version"], {"click"}), (["ls"], set()), (["show"], set()), (["tree"], set())):
        script = f"import sys; from bough.cli import main; main({words!r}); print(*sys.modules, file=sys.stderr)"
        done = subprocess.run(
            [sys.executable, "-c", script], env=kept.environment, capture_output=True, text=True, check=True
        )
        assert not (heavy | more) & set(done.stderr.split()), words


def test_without_click_the_error_names_the_extra_to_install(sh: Shell) -> None:
    script = "import sys; sys.modules['click'] = None; from bough.cli import main; sys.exit(main(['ls']))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=sh.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "pip install 'bough[cli]'" in done.stderr


def raising(error: BaseException) -> click.Command:
    def callback() -> None:
        raise error

    return click.Command("x", callback=callback)


def test_every_error_is_one_line_and_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    for error, status, said in (
        (
            ValueError("odd \x1b[2J"),
            70,
            "bough: This is a bug in bough (ValueError: odd ␛[2J). BOUGH_TRACEBACK=1 shows",
        ),
        (NotFound("no oak"), 3, "bough: no oak\n"),
        (PermissionError(13, "Permission denied", "a.db"), 1, "bough: a.db: Permission denied\n"),
        (KeyboardInterrupt(), 130, "\n"),
        (click.Abort(), 130, "\n"),
    ):
        assert run(raising(error), []) == status
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith(said)
        assert shown.err.count("\n") == 1
    assert run(raising(NotFound("no oak")), ["--json"]) == 2  # it has no such option


def test_an_unexpected_error_can_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_TRACEBACK", "1")
    with pytest.raises(ValueError, match="odd"):
        run(raising(ValueError("odd")), [])


def test_a_misspelt_command_is_confirmed(kept: Shell, ids: dict[str, str]) -> None:
    child = spawn(kept, "serach", "mongolia")
    child.expect(re.escape("'serach' is not a command; did you mean `bough search`? [Y/n]"))
    child.sendline("")
    child.expect(ids["capital"])
    child.expect(pexpect.EOF)
    child = spawn(kept, "serach", "mongolia")
    child.expect(r"\[Y/n\]")
    child.sendline("n")
    child.expect("To ask a model, write: bough run serach mongolia")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2


def test_piped_input_without_words_is_a_question_and_nothing_at_all_is_the_help(sh: Shell) -> None:
    (sh.directory / "script").write_text("It is.\n")
    done = sh(stdin="Is it?", BOUGH_MODEL="scripted:script")
    assert (done.status, done.out) == (0, "It is.\n")
    command = [sys.executable, "-m", "bough"]
    nothing = subprocess.run(command, env=sh.environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert b"Look:" in nothing.stdout
