"""Every command explains itself, and prints JSON where it prints data."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

import bough
from bough import Save, user
from bough.cli import main
from bough.cli.registry import ROOT
from tests.cli.bough_process import Shell

WITHOUT_JSON = {
    "bough browse", "bough chat", "bough export", "bough completion",
    "bough acp", "bough mcp agent", "bough mcp history", "bough serve", "bough page", "bough mcp serve",
    "bough config set", "bough config edit", "bough tokens revoke",
}  # fmt: skip
"""They print no data, or data of another sort."""


def commands(
    command: click.Command, above: click.Context | None = None, name: str = "bough"
) -> Iterator[click.Context]:
    ctx = click.Context(command, info_name=name, parent=above)
    yield ctx
    if isinstance(command, click.Group):
        for below in command.list_commands(ctx):
            found = command.get_command(ctx, below)
            assert found is not None
            yield from commands(found, ctx, below)


ALL = list(commands(ROOT))


@pytest.mark.parametrize("ctx", ALL, ids=lambda ctx: ctx.command_path)
def test_every_command_has_a_help_page(ctx: click.Context, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ctx.command_path.split()[1:], "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"Usage: {ctx.command_path}")
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.help, f"{ctx.command_path} {parameter.opts} is not explained"


def test_every_command_that_prints_data_prints_json() -> None:
    for ctx in ALL:
        if not isinstance(ctx.command, click.Group) and ctx.command_path not in WITHOUT_JSON:
            assert any("--json" in one.opts for one in ctx.command.params), ctx.command_path


def test_every_alias_names_a_command() -> None:
    for ctx in ALL:
        for alias, name in getattr(ctx.command, "aliases", {}).items():
            assert isinstance(ctx.command, click.Group)
            assert ctx.command.get_command(ctx, alias) is ctx.command.get_command(ctx, name)


def test_an_id_that_starts_with_a_dash_follows_two_dashes(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        (id,) = store.save_messages([Save(user("an old id"))])
        store.db._use().execute("UPDATE messages SET id = '-aB_12' WHERE id = ?", (id,))  # type: ignore[attr-defined]
    assert "an old id" in sh("show", "--", "-aB_12").out
    assert sh("delete", "--json", "--", "-aB_12").status == 0
    hinted = sh("show", "-aB_12")
    assert hinted.status == 2
    assert "An id that starts with a dash goes after `--`." in hinted.err


def test_prompts_that_look_like_commands_can_be_marked_as_prompts(sh: Shell) -> None:
    script = sh.directory / "replies.txt"
    script.write_text("I grow.\n")
    for words in (["--", "tree"], ["run", "tree"], ["tree of life"], ["-n", "delete everything"]):
        done = sh(*words, BOUGH_MODEL=f"scripted:{script}")
        assert (done.status, done.out) == (0, "I grow.\n"), done.err
    questions = [line for line in sh("ls").out.splitlines() if "[USER]" in line]
    assert [line.split("] ")[1] for line in questions] == ["tree", "tree", "tree of life", "delete everything"]
    assert sh("tre", BOUGH_MODEL=f"scripted:{script}").status == 2


def test_what_is_needed_by_few_commands_is_not_imported_by_the_others(sh: Shell) -> None:
    for words in (["--version"], ["conversations", "ls"], ["--help"], ["status"]):
        code = (
            "import sys; from bough.cli import main; main(sys.argv[1:]);"
            "print(*{'textual', 'rich', 'keyring', 'pygments', 'prompt_toolkit', 'jsonschema'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *words], env=sh.environment, capture_output=True, text=True, check=True
        )  # fmt: skip
        assert done.stdout.splitlines()[-1] == "", words
