"""The command line: one file per command, each imported only when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; return the exit status, as listed in docs/cli.md."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        import bough

        print(f"bough {bough.__version__}")  # scripts run this often: import nothing else
        return 0
    try:
        import click  # noqa: F401
    except ImportError:
        print("bough: the command line needs more than the library: pip install 'bough[cli]'", file=sys.stderr)
        return 1
    from bough.cli.exits import run
    from bough.cli.registry import ROOT

    return run(ROOT, words)
