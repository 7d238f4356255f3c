"""Tell a person who looks elsewhere that a long answer is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from bough.cli.output.console import supports_escapes
from bough.cli.output.text import one_line, truncate


@contextmanager
def notified(after: float, what: str) -> Iterator[None]:
    """Ring the bell and show a notification (OSC 9) if the block takes longer than `after` seconds, on a terminal."""
    begun = monotonic()
    try:
        yield
    finally:
        if monotonic() - begun >= after and supports_escapes(sys.stderr):
            sys.stderr.write(f"\x1b]9;bough: {truncate(one_line(what), 80)}\x1b\\\a")
            sys.stderr.flush()
