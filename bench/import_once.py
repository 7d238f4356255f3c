"""Import a history in a process of its own; print the seconds, the messages, the new messages, and the peak memory.

`python -m bench.import_once STORE PATH`
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path
from time import perf_counter

import bough
from bough.importers import detect
from bough.model.imported import Skipped


def main(file: str, path: str) -> None:
    began, messages, added = perf_counter(), 0, 0
    with bough.connect(file) as store:
        for item in detect(Path(path)).read(Path(path)):
            if not isinstance(item, Skipped):
                result = store.bring_in(item)
                added += result.added
                messages += result.added + result.known
    print(perf_counter() - began, messages, added, peak())


def peak() -> int:
    """The peak memory of this process. On Linux, `getrusage` reports a value inherited from the parent process."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main(*sys.argv[1:])
