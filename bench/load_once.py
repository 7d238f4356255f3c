"""Open a store and load one path, in a process of its own; print the seconds.

`python -m bench.load_once bough|raw FILE KEY`. Each contestant imports only what it needs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter


def main(name: str, file: str, key: str) -> None:
    if name == "bough":
        from bough import connect

        began = perf_counter()
        with connect(file) as store:
            assert store.session(key).path()
            print(perf_counter() - began)
    else:
        from bench.raw import Raw

        began = perf_counter()
        raw = Raw(Path(file))
        assert raw.path(key)
        print(perf_counter() - began)


if __name__ == "__main__":
    main(*sys.argv[1:])
