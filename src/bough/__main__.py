"""`python -m bough`, and the `bough` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line with the arguments of this process; its exit status."""
    try:
        from bough.cli import main as run

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # before there was anything to interrupt
        return 130


if __name__ == "__main__":
    sys.exit(main())
