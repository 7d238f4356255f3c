"""Count the Python calls into bough that one operation makes: `python -m bench.walk [NAME …] [--tree [DEPTH]]`.

The counts do not depend on the machine, so a change can be compared with the state before it. Every operation runs
twice and the second run is counted: imports and caches are not part of it. Comprehensions and generator expressions do
not count either: since Python 3.12 most of them are no calls. `run` reads the reply in a thread, so its count varies a
little.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType

import bough
from bench.measure import Result, Scale
from bough import Session, Store, assistant, user

SOURCE = str(Path(bough.__file__).parent) + os.sep
KEY = "cli:walk"
DEPTH = 6
UNCOUNTED = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of bough."""

    file: str
    function: str
    depth: int
    caller: str | None
    """The file of the nearest caller inside bough; None for a call from outside."""


@dataclass
class Walk:
    """The calls of one operation, in order. Use it in a `with` block."""

    calls: list[Call] = field(default_factory=list)

    @property
    def files(self) -> int:
        return len({call.file for call in self.calls})

    @property
    def changes(self) -> int:
        """The calls that go from one file to another."""
        return sum(call.caller not in (None, call.file) for call in self.calls)

    def __enter__(self) -> Walk:
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and code.co_name not in UNCOUNTED:
            callers = list(callers_of(frame))
            caller = callers[0] if callers else None
            self.calls.append(Call(code.co_filename.removeprefix(SOURCE), code.co_qualname, len(callers), caller))


def callers_of(frame: FrameType) -> Iterator[str]:
    """The files below `src/bough` of the calls that led to this one, the nearest first."""
    above = frame.f_back
    while above:
        code = above.f_code
        if code.co_filename.startswith(SOURCE) and code.co_name not in UNCOUNTED:
            yield code.co_filename.removeprefix(SOURCE)
        above = above.f_back


def walk(work: Callable[[], object]) -> Walk:
    work()
    with Walk() as counted:
        work()
    return counted


# Operations ----------------------------------------------------------------------------------------------------------


def save_turn(_: Store, session: Session) -> Walk:
    messages = [user("How old is the oak?"), assistant("About 210 years.")]
    return walk(lambda: session.save_turn(messages))


def path(_: Store, session: Session) -> Walk:
    return walk(session.path)


def fork(_: Store, session: Session) -> Walk:
    head = session.head
    return walk(lambda: session.fork(at=head))


def search(store: Store, _: Session) -> Walk:
    return walk(lambda: store.search("oak"))


def run(_: Store, __: Session) -> Walk:
    """`bough run`, answered by a scripted provider."""
    from bough.cli import main

    with tempfile.TemporaryDirectory(prefix="bough-walk-") as directory, ExitStack() as stack:
        script = Path(directory) / "replies.txt"
        script.write_text("About 210 years.\n")
        config = Path(directory) / "config.toml"
        config.touch()
        words = ["--config", str(config), "--db", str(Path(directory) / "walk.db")]
        words += ["run", "--skip-stdin", "--model", f"scripted:{script}", "How old is the oak?"]
        stack.enter_context(redirect_stdout(io.StringIO()))
        stack.enter_context(redirect_stderr(errors := io.StringIO()))

        def ask() -> None:
            if status := main(words):
                raise ChildProcessError(f"bough run ended with {status}: {errors.getvalue()}")

        return walk(ask)


OPERATIONS: dict[str, Callable[[Store, Session], Walk]] = {
    "save_turn": save_turn,
    "path": path,
    "fork": fork,
    "search": search,
    "run": run,
}


def counted(name: str, directory: Path) -> Walk:
    """The walk of one operation on a new store with one turn."""
    with bough.connect(directory / f"{name}.db") as store:
        session = store.session(KEY)
        session.save_turn([user("Which tree is behind the house?"), assistant("An oak.")])
        return OPERATIONS[name](store, session)


# Output --------------------------------------------------------------------------------------------------------------


def measure(_: Scale, directory: Path) -> Iterator[Result]:
    for name in OPERATIONS:
        found = counted(name, directory)
        detail = f"{found.files} files, {found.changes} calls from one file to another"
        yield Result(f"calls into bough: `{name}`", len(found.calls), "", detail=detail)


def tree(found: Walk, depth: int) -> Iterator[str]:
    """The calls as an indented tree; equal neighbours are one line with their number."""
    lines: list[tuple[str, int]] = []
    for call in found.calls:
        if call.depth < depth:
            line = f"{'  ' * call.depth}{call.function}  ({call.file})"
            if lines and lines[-1][0] == line:
                lines[-1] = line, lines[-1][1] + 1
            else:
                lines.append((line, 1))
    for line, times in lines:
        yield line if times == 1 else f"{line} ×{times}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.walk", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(OPERATIONS)}; all by default")
    parser.add_argument(
        "--tree", nargs="?", type=int, const=DEPTH, metavar="DEPTH", help=f"print the calls, {DEPTH} levels by default"
    )
    given = parser.parse_args()
    if unknown := set(given.names) - set(OPERATIONS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(OPERATIONS)}")
    print(f"{'operation':<12}{'calls':>7}{'files':>7}{'changes of file':>17}")
    with tempfile.TemporaryDirectory(prefix="bough-bench-") as directory:
        for name in given.names or OPERATIONS:
            found = counted(name, Path(directory))
            print(f"{name:<12}{len(found.calls):>7}{found.files:>7}{found.changes:>17}")
            if given.tree:
                print(*tree(found, given.tree), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
