"""How a command ends: every error is one line on stderr and a documented exit status."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TextIO

import click

from bough.cli.output.text import sanitize
from bough.errors import BoughError, ProviderError

STATUSES = {
    "error": 1,
    "invalid": 2,
    "not_found": 3,
    "ambiguous": 4,
    "refused": 5,
    "conflict": 6,
    "busy": 7,
    "format": 8,
    "import": 9,
    "config": 10,
    "tool": 11,
    "provider": 20,
    "storage": 30,
    "schema_too_new": 31,
    "corrupt": 32,
    "full": 33,
}
"""The code of an error → the exit status. A subclass whose code is not listed has the status of its parent."""
TROUBLES = {"key": 21, "rate_limit": 22, "down": 23, "refused": 24, "not_found": 25, "context_too_long": 26, "cut": 27}
"""The kind of a provider's trouble → the exit status; any other kind has that of `provider`."""
STOPPED = 28
"""A limit of steps or of time ended the turn."""
USAGE, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141


def status_of(error: BoughError) -> int:
    """The exit status of an error: its own, or that of the nearest of its parents that has one."""
    if isinstance(error, ProviderError) and error.kind in TROUBLES:
        return TROUBLES[error.kind]
    for cls in type(error).__mro__:
        if (code := getattr(cls, "code", None)) in STATUSES:
            return STATUSES[code]
    return STATUSES["error"]


def run(command: click.Command, words: Sequence[str]) -> int:
    """Runs a command with these words. Nothing that goes wrong shows a traceback."""
    sys.stdout, sys.stderr = writable(sys.stdout), writable(sys.stderr)
    try:
        if instruction := os.environ.get("_BOUGH_COMPLETE"):
            from click.shell_completion import shell_complete

            return shell_complete(command, {}, "bough", "_BOUGH_COMPLETE", instruction)
        status = invoke(command, words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        close_stdout()
        return BROKEN_PIPE
    except OSError as error:
        close_stdout()
        return tell(f"The output could not be written: {error.strerror}.", "error", STATUSES["error"])


def writable(stream: TextIO | None) -> TextIO:
    """A stream that takes every text; nowhere, if the process was started without it."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


def close_stdout() -> None:
    """Python would complain about the same once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def invoke(command: click.Command, words: Sequence[str]) -> int:
    as_json = "--json" in words
    try:
        with command.make_context("bough", list(words)) as ctx:
            result = command.invoke(ctx)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort, EOFError):
        print(file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:
        return tell(usage(error), "usage", error.exit_code, as_json)
    except BoughError as error:
        return tell(str(error), error.code, status_of(error), as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return tell(f"{named}{error.strerror or error}", "error", STATUSES["error"], as_json)
    except Exception as error:
        if os.environ.get("BOUGH_TRACEBACK"):
            raise
        found = f"This should not happen ({type(error).__name__}: {error}). BOUGH_TRACEBACK=1 shows where it did."
        return tell(found, "unexpected", UNEXPECTED, as_json)


def usage(error: click.ClickException) -> str:
    """What was wrong with the words, and where to read on."""
    context = getattr(error, "ctx", None)
    said = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        said += " (An id that begins with a dash goes after `--`.)"
    said += "" if said.endswith((".", "?", ")")) else "."
    return f"{said} See `{context.command_path} --help`." if context else said


def tell(message: str, code: str, status: int, as_json: bool = False) -> int:
    """Says on stderr what went wrong; the status."""
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message}}), file=sys.stderr)
    else:
        print("bough: " + sanitize(message), file=sys.stderr)
    return status
