"""Tab in a shell: commands, flags, ids and names."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest

from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import configure


def completed(sh: Shell, *words: str) -> list[str]:
    """The completions of the last word: kind, word and description of each."""
    line = " ".join(["bough", *words])
    return sh(_BOUGH_COMPLETE="zsh_complete", COMP_WORDS=line, COMP_CWORD=str(len(words))).out.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(sh: Shell, shell: str) -> None:
    assert "_BOUGH_COMPLETE" in sh("completion", shell).out


def test_fish_keeps_commas_in_descriptions(sh: Shell) -> None:
    assert 'string split --max 1 "," $completion' in sh("completion", "fish").out


def test_commands_complete(sh: Shell) -> None:
    assert completed(sh, "compl")[:2] == ["plain", "completion"]


def test_ids_and_names_complete_with_descriptions(kept: Shell, ids: dict[str, str]) -> None:
    found = completed(kept, "show", ids["hornbeam"][:3])
    assert found[:3] == ["plain", ids["hornbeam"], "Take hornbeam."]
    assert "cli\\:garden" in completed(kept, "tree", "cli")
    assert completed(kept, "tree", "gard")[1:3] == ["garden", "Planting oaks"]
    assert "--cascade" in completed(kept, "delete", "--")
    assert "show" in completed(kept, "convo", "sh")
    assert ids["hornbeam"] not in completed(kept, "stats", "--session", ids["hornbeam"][:3])
    kept("delete", "cli:notes")
    assert completed(kept, "restore", "")[2] == "session cli:notes"


def test_file_arguments_complete_as_files(sh: Shell) -> None:
    for words in (("import",), ("run", "-i"), ("-i",), ("export", "-o"), ("--db",), ("db", "copy"), ("tree", "--db")):
        assert completed(sh, *words, "")[0] == "file", words


def test_the_flags_of_run_complete_without_its_name(kept: Shell, ids: dict[str, str]) -> None:
    assert ids["hornbeam"] in completed(kept, "-c", ids["hornbeam"][:3])
    assert ids["hornbeam"] in completed(kept, "--db", str(kept.db), "-n", "-c", ids["hornbeam"][:3])
    assert "cli\\:garden" in completed(kept, "--session", "")
    assert "--resume" in completed(kept, "--re")
    assert "--no-save" in completed(kept, "why", "is", "--no")
    assert completed(kept, "--h").count("--help") == 1


def test_only_a_message_completes_after_c(kept: Shell) -> None:
    assert "cli\\:garden" not in completed(kept, "run", "-c", "cli")


def test_models_complete(sh: Shell) -> None:
    configure(sh, '[providers.den]\nbase_url = "http://localhost:1/v1"\n')
    assert {"local", "den:"} <= set(completed(sh, "-m", ""))


def test_bash_completes_the_names_of_sessions(kept: Shell, tmp_path: Path) -> None:
    program = tmp_path / "bough"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m bough "$@"\n')
    program.chmod(0o755)
    environment = kept.environment | {"PATH": f"{tmp_path}:/usr/bin:/bin", "TERM": "xterm", "PS1": "$ "}
    child = pexpect.spawn("bash", ["--norc"], cwd=tmp_path, env=environment, encoding="utf-8", timeout=30)
    child.sendline("source <(bough completion bash); echo read''y")
    child.expect("ready")
    child.send("bough title cli:gard\t")
    child.expect("cli:gard\x07?en")
    child.send("\x15bough conve\t")
    child.expect("conve\x07?rsations ")
    child.close(force=True)
