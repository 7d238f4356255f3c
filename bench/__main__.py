"""`python -m bench [--quick] [NAME …]`: measure, print the table, and after a full run write docs/performance.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench import (
    adapters,
    append,
    concurrency,
    contexts,
    disk,
    forks,
    importing,
    imports,
    loading,
    peers,
    postgres,
    recent,
    searching,
    serving,
    startup,
    upkeep,
    walk,
    writers,
)
from bench.measure import FULL, QUICK, Measurement
from bench.table import head, line, write

MEASUREMENTS: dict[str, Measurement] = {
    "append": append.measure,
    "load": loading.measure,
    "fork": forks.measure,
    "recent": recent.measure,
    "search": searching.measure,
    "context": contexts.measure,
    "disk": disk.measure,
    "writers": writers.measure,
    "concurrency": concurrency.measure,
    "upkeep": upkeep.measure,
    "postgres": postgres.measure,
    "history": importing.measure,
    "import": imports.measure,
    "start": startup.measure,
    "serve": serving.measure,
    "walk": walk.measure,
}


PEERS = {"peers": peers.measure, "adapters": adapters.measure}
"""Measured only when asked for: they need `pip install -e '.[peers]'`, as `make bench PEERS=1` does."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASUREMENTS)} (all by default), peers"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to test the benchmarks themselves")
    parser.add_argument("--peers", action="store_true", help="also measure other stores of conversations")
    given = parser.parse_args()
    known = MEASUREMENTS | PEERS
    if unknown := set(given.names) - set(known):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    names = given.names or [*MEASUREMENTS, *(PEERS if given.peers else ())]
    lines = []
    print(head())
    for name in names:
        with tempfile.TemporaryDirectory(prefix="bough-bench-") as directory:
            for result in known[name](QUICK if given.quick else FULL, Path(directory)):
                lines.append(line(result))
                print(lines[-1], flush=True)
    if not given.quick and not given.names:
        write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
