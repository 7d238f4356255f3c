"""A shell whose model is a script, with views of its store."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bough
from bough import Node
from tests.cli.bough_process import Done, Shell

REPLIES = ["First reply.", "Second reply.", "Third reply."]


@dataclass
class ScriptedShell:
    """A shell in which a script answers `bough run`."""

    sh: Shell

    def script(self, *lines: str | dict[str, Any], name: str = "script") -> str:
        """Write the replies to a file; return the name of the model that gives them."""
        path = self.sh.directory / name
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return f"scripted:{name}"

    def __call__(self, *words: str, stdin: str = "", **more: str) -> Done:
        """Run `bough` with the script as the model."""
        return self.sh(*words, stdin=stdin, **{"BOUGH_MODEL": "scripted:script", **more})

    def ask(self, *words: str, **more: str) -> str:
        """Ask a question; return the id of the reply."""
        done = self(*words, **more)
        assert done.status == 0, done.err
        return id_in(done.err)

    def dialog(self, key: str) -> list[str]:
        """The texts of the messages of a session."""
        with bough.connect(self.sh.db) as store:
            return [node.message.text for node in store.session(key).path()]

    def path(self, id: str) -> list[Node]:
        with bough.connect(self.sh.db) as store:
            return store.path(id)

    def keys(self) -> list[str]:
        with bough.connect(self.sh.db) as store:
            return [info.key for info in store.sessions()]


def id_in(err: str) -> str:
    """The id of the reply, from stderr."""
    found = re.findall(r"^\[([0-9a-z]{6})\]$", err, re.MULTILINE)
    assert found, err
    return str(found[-1])


def texts(nodes: list[Node]) -> list[str]:
    return [node.message.text for node in nodes]


def home_of(sh: Shell) -> Path:
    return sh.directory / ".config" / "bough" / "config.toml"


def configure(sh: Shell, text: str) -> None:
    """Write the configuration of the shell's user."""
    home_of(sh).parent.mkdir(parents=True, exist_ok=True)
    home_of(sh).write_text(text)
