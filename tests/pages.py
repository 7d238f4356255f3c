"""Runs a page of the manual as a reader would: its files are written, its commands are typed, its output is compared.

In a page, a block of code with `title="NAME"` is a file, a block of Python without one is a program, and each line of a
block `console` that begins with `$` is a command, followed by what it prints: `…` stands for anything, and an id for
another one, which then replaces it in what follows. A comment before a block may say why it is not run:
`<!-- not run: REASON -->`. The comment `<!-- replies: … -->` has the replies of the model that the page talks to.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.ports import free_port
from tests.server.serving import serving

ROOT = Path(__file__).parent.parent
PORTS = ("8011", "8000", "8001")
"""The ports that pages name. Each run has its own in their place."""
MODELS = ("gpt-5.4-mini", "gpt-5-mini", "claude-sonnet-5-5")
"""The models that pages name, which the scripted one answers for."""
ID = re.compile(r"\b(?=[a-z0-9]*[0-9])(?=[a-z0-9]*[a-z])[a-z0-9]{6}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?")
_BLOCK = re.compile(
    r"(?:<!-- not run: ([^>]*?) -->\n\s*)?^( *)```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^ *```$", re.M | re.S
)
_PRELUDE = r"""
curl() { command curl --silent --show-error --retry 30 --retry-connrefused --retry-delay 1 "$@"; }
while IFS= read -r -d '' -u 3 command; do eval "$command" 3<&-; echo "@@ $?"; done
"""


@dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    language: str
    text: str
    title: str | None = None
    not_run: str | None = None
    """Why it is not run."""

    @property
    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """The commands of a block `console`, each with the lines that it prints."""
        for part in re.split(r"^\$ ", self.text, flags=re.M)[1:]:
            lines = part.rstrip("\n").split("\n")
            count = next((n for n, line in enumerate(lines, 1) if not line.endswith("\\")), len(lines))
            yield "\n".join(lines[:count]), lines[count:]


def blocks(page: Path) -> list[Block]:
    """The blocks of code of a page, in order."""
    found = _BLOCK.findall(page.read_text("utf-8"))
    return [
        Block(language, re.sub(rf"^{indent}", "", text, flags=re.M), title or None, reason or None)
        for reason, indent, language, title, text in found
    ]


def replies(page: Path) -> str:
    """What the model of a page answers, a reply in each line."""
    found = re.search(r"<!-- replies:\n(.*?)-->", page.read_text("utf-8"), re.S)
    return found[1] if found else "About 210 years.\n"


def run_page(page: Path, directory: Path, replace: Mapping[str, str] = {}) -> None:
    """Runs all of a page in an empty directory. Raises `AssertionError` with the command and what it printed."""
    (directory / "replies").write_text(replies(page))
    aliases = "".join(f'"{name}" = "scripted:{directory / "replies"}"\n' for name in MODELS)
    config = f"[server.models]\n{aliases}"
    default = f"scripted:{directory / 'replies'}"
    with serving(directory / "model", "--no-token", "--model", default, config=config) as model:
        (directory / "work").mkdir()
        with Shell(directory / "work", model.url) as shell:
            shell.names = {port: str(free_port()) for port in PORTS} | dict(replace)
            for block in blocks(page):
                if not block.not_run:
                    shell.block(block)


class Shell:
    """A shell in which the commands of a page run one after the other."""

    def __init__(self, directory: Path, model: str) -> None:
        self.names: dict[str, str] = {}
        """What replaces words of the page: ports, addresses, ids."""
        self._directory = directory
        inherited = {k: v for k, v in os.environ.items() if not re.match("BOUGH_|OPENAI|ANTHROPIC|XDG_", k)}
        self._environment = inherited | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(directory.parent / "home"),
            "OPENAI_BASE_URL": f"{model}/v1", "OPENAI_API_KEY": "none", "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "none", "NO_PROXY": "127.0.0.1", "COLUMNS": "100", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip

    def __enter__(self) -> Shell:
        (self._directory.parent / "home").mkdir()
        read, write = os.pipe()
        script = f"exec 3<&{read}\n{_PRELUDE}" if read != 3 else _PRELUDE
        self._process = subprocess.Popen(
            ["bash", "-c", script], cwd=self._directory, env=self._environment, pass_fds=[read], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        os.close(read)
        self._commands: IO[str] = os.fdopen(write, "w")
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._commands.close()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def block(self, block: Block) -> None:
        """Writes a file, runs a program, or types commands."""
        if block.title:
            path = self._directory / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._renamed(block.text))
        elif block.language == "python":
            (self._directory / "block.py").write_text(self._renamed(block.text))
            self.run("python block.py")
        elif block.language in ("console", "sh"):
            for command, expected in block.commands:
                self.compare(command, expected, self.run(self._renamed(command)))

    def run(self, command: str, seconds: float = 60) -> str:
        """What a command prints. Raises `AssertionError` if it fails."""
        with self._killed_after(seconds):
            self._commands.write(f"{command}\0")
            self._commands.flush()
            printed = ""
            assert self._process.stdout is not None
            for line in self._process.stdout:
                before, mark, status = line.partition("@@ ")
                printed += before
                if mark:
                    assert status.strip() == "0", f"$ {command}\n{printed}"
                    return printed
        raise AssertionError(f"$ {command}\n{printed}\nThe shell has ended, or the command took {seconds} seconds.")

    def compare(self, command: str, expected: list[str], printed: str) -> None:
        """Each expected line is printed, in this order; the ids in it replace those of the page from then on."""
        rest = printed
        for line in (line for line in expected if line.strip() not in ("", "…")):
            ids: list[str] = []
            found = re.search(self._pattern(line, ids), rest)
            assert found, f"$ {command}\n{printed}\nThe page has: {line}"
            self.names |= dict(zip(ids, found.groups(), strict=True))
            rest = rest[found.end() :]

    def _pattern(self, line: str, ids: list[str]) -> str:
        """An expression for a line; `ids` gets the ids that are new in it, one for each group."""
        parts = []
        for word in re.split(r"(…|\s+|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?|\b[a-z0-9]{6}\b)", self._renamed(line)):
            if word == "…" or TIME.fullmatch(word):
                parts.append(".*")
            elif ID.fullmatch(word) and word not in self.names.values() and word not in ids:
                ids.append(word)
                parts.append(r"([a-z0-9]{6,8})")
            else:
                parts.append(r"\s+" if word.isspace() else re.escape(word))
        return "".join(parts)

    def _renamed(self, text: str) -> str:
        for name, value in self.names.items():
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", value.replace("\\", r"\\"), text)
        return text

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        timer = threading.Timer(seconds, lambda: os.killpg(self._process.pid, signal.SIGKILL))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
