"""`python -m bough`, and the `bough` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line with the arguments of this process; return the exit status."""
    try:
        from bough.cli import main as run

        return run(sys.argv[1:])
    except KeyboardInterrupt:  # while the modules are imported
        return 130


if __name__ == "__main__":
    sys.exit(main())
