"""Exit statuses. Every error is one line on stderr and a documented status."""

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
    "channel": 12,
    "provider": 20,
    "storage": 30,
    "schema_too_new": 31,
    "corrupt": 32,
    "full": 33,
}
"""Exit status by the code of an error. A code that is not listed has the status of its parent class."""
PROVIDER_STATUSES = {
    "key": 21,
    "rate_limit": 22,
    "down": 23,
    "refused": 24,
    "not_found": 25,
    "context_too_long": 26,
    "cut": 27,
}
"""Exit status by the kind of a provider's error; other kinds have that of `provider`."""
STOPPED = 28
"""A limit on steps or time ended the turn."""
USAGE, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141


def status_of(error: BoughError) -> int:
    """The exit status of an error, or of its nearest parent class that has one."""
    if isinstance(error, ProviderError) and error.kind in PROVIDER_STATUSES:
        return PROVIDER_STATUSES[error.kind]
    for cls in type(error).__mro__:
        if (code := getattr(cls, "code", None)) in STATUSES:
            return STATUSES[code]
    return STATUSES["error"]


def run(command: click.Command, words: Sequence[str]) -> int:
    """Run a command line; return the exit status. No error shows a traceback, unless `$BOUGH_TRACEBACK` is set."""
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
        return report(f"The output could not be written: {error.strerror}.", "error", STATUSES["error"])


def writable(stream: TextIO | None) -> TextIO:
    """A stream that accepts all text; the null device if the process was started without this stream."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


def close_stdout() -> None:
    """Redirect stdout to the null device, because Python flushes it at exit and would report the error again."""
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
        return report(usage_message(error), "usage", error.exit_code, as_json)
    except BoughError as error:
        return report(str(error), error.code, status_of(error), as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        file = f"{error.filename}: " if error.filename else ""
        return report(f"{file}{error.strerror or error}", "error", STATUSES["error"], as_json)
    except Exception as error:
        if os.environ.get("BOUGH_TRACEBACK"):
            raise
        message = f"This is a bug in bough ({type(error).__name__}: {error}). BOUGH_TRACEBACK=1 shows the traceback."
        return report(message, "unexpected", UNEXPECTED, as_json)


def usage_message(error: click.ClickException) -> str:
    """A usage error in one line, with the help page to read."""
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        message += " (An id that starts with a dash goes after `--`.)"
    message += "" if message.endswith((".", "?", ")")) else "."
    return f"{message} See `{context.command_path} --help`." if context else message


def report(message: str, code: str, status: int, as_json: bool = False) -> int:
    """Write an error on stderr; return the status."""
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message}}), file=sys.stderr)
    else:
        print("bough: " + sanitize(message), file=sys.stderr)
    return status
