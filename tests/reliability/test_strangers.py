"""Another user of the same machine, with a shell: what bough writes cannot be read, changed or talked to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from tests.cli.bough_process import Shell
from tests.server.serving import serving

NOBODY = 65534
TRY = """
import json, os, socket, stat, sys
done = []
for path in json.loads(sys.stdin.read()):
    for verb, flags in (("read", os.O_RDONLY), ("write", os.O_WRONLY), ("append", os.O_WRONLY | os.O_APPEND)):
        try:
            os.close(os.open(path, flags))
            done.append([verb, path])
        except PermissionError:
            pass
        except OSError as error:  # a socket cannot be opened
            if not stat.S_ISSOCK(os.stat(path).st_mode):
                raise
    if stat.S_ISSOCK(os.stat(path).st_mode):
        try:
            socket.socket(socket.AF_UNIX).connect(path)
            done.append(["connect", path])
        except PermissionError:
            pass
print(json.dumps(done))
"""


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that everybody may enter and list: only the files' own rights protect them."""
    directory = Path(tempfile.mkdtemp(prefix="bough-"))
    directory.chmod(0o755)
    former = os.umask(0o022)
    yield directory
    os.umask(former)
    shutil.rmtree(directory)


def as_stranger(paths: list[Path]) -> list[list[str]]:
    """What another user can do with files: verb and path."""
    if os.geteuid() != 0:
        pytest.skip("not tested: only root can become another user")
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or pytest.skip(
        "not tested: needs a Python for all"
    )
    done = subprocess.run(
        [python, "-c", TRY],
        input=json.dumps([str(path) for path in paths]),
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env={"PATH": os.environ["PATH"]},
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def files_in(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if not path.is_dir()]


def opened_to_all(directory: Path) -> None:
    """Lets everybody into the directories: what is tested are the files."""
    for path in directory.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)


def test_a_stranger_reads_and_changes_no_file_that_bough_writes(open_directory: Path) -> None:
    sh = Shell(open_directory, open_directory / "chats.db")
    (open_directory / "script").write_text("An oak is a tree.\n")
    (open_directory / "script").chmod(0o600)
    for words, stdin in (
        (["run", "-m", "scripted:script", "what is an oak?"], ""),
        (["keys", "set", "openai", "--file"], "sk-0123456789abcdef\n"),
        (["config", "set", "run.model", "scripted:script"], ""),
        (["tokens", "create", "somebody"], ""),
        (["db", "backup", "backup.db"], ""),
        (["db", "copy", "chats.db", "copy.db"], ""),
        (["db", "init", "--here"], ""),
        (["export", "--all", "-o", "out.jsonl"], ""),
        (["export", "--all", "-o", "out.sqlite"], ""),
        (["export", "--all", "talks", "-f", "md"], ""),
    ):
        done = sh(*words, stdin=stdin)
        assert done.status == 0, done.err
    with bough.connect(sh.db) as store:  # while it is open, the log and the lock are there
        store.session("cli:a").save_turn([bough.user("q"), bough.assistant("a")])
        opened_to_all(open_directory)
        paths = files_in(open_directory)
        names = {path.name for path in paths}
        assert names >= {"chats.db", "chats.db-wal", "chats.db-lock", "backup.db", "copy.db", "out.jsonl", "out.sqlite"}
        pointer = open_directory / ".bough"  # names a path, to be read by everybody who works here
        assert as_stranger([path for path in paths if path != pointer]) == []
        assert ["write", str(pointer)] not in as_stranger([pointer])


def test_a_stranger_reads_no_token_of_a_server_and_does_not_reach_its_socket(open_directory: Path) -> None:
    with serving(open_directory, "--socket", str(open_directory / "bough.sock")):
        opened_to_all(open_directory)
        made = [path for path in files_in(open_directory) if path.suffix != ".toml"]  # which the test has written
        assert {path.name for path in made} >= {"s.db", "token", "bough.sock"}
        assert as_stranger(made) == []
