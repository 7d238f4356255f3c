"""The benchmarks run. How fast anything is, no test says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from bench.measure import Contest, Result

ROOT = Path(__file__).parent.parent
SUBJECTS = (
    "append a turn", "append at", "load a path", "new process", "last 50", "fork", "most recent", "build the index",
    "newest first", "best first", "bytes on disk", "one picture", "one file", "one session", "import bough",
    "clean 100,000", "purge 100,000", "longest transaction", "rewind a turn", "previews", "search of one session",
    "bytes written", "by asyncio",
    "PostgreSQL: append", "PostgreSQL: load", "PostgreSQL: 64 sessions",
    "through `bough serve`", "`GET` of a stored response", "chained responses", "streams at the same time",
    "bough --version", "conversations ls", "of Claude Code", "of ChatGPT", "peak memory",
    "calls into bough: `save_turn`", "calls into bough: `run`",
)  # fmt: skip


def test_every_benchmark_prints_what_it_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()[2:]]
    for name, measured, *_ in rows:
        assert re.fullmatch(r" -?[\d,]+(\.\d+)?(×| ms| s| B| MB| MB/s)? | rejected ", measured), name
    for subject in SUBJECTS:
        assert any(subject in row[0] for row in rows), subject


def test_a_quick_run_leaves_the_published_table_alone() -> None:
    page = ROOT / "docs" / "performance.md"
    before = page.read_bytes()
    subprocess.run([sys.executable, "-m", "bench", "--quick", "import"], cwd=ROOT, capture_output=True, check=True)
    assert page.read_bytes() == before


def test_the_walk_prints_calls_files_and_a_call_tree() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.walk", "path", "save_turn", "--tree", "3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^path +\d+ +\d+ +\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^save_turn +\d+ +\d+ +\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^  Store\.load_path  \(store\.py\)$", done.stdout, re.MULTILINE)


def test_rounds_in_which_raw_was_slower_than_usual_do_not_count() -> None:
    assert Contest([1.0] * 10, [1.0] * 6 + [10.0] * 4).ratio == 1.0


def test_a_run_is_rejected_if_raw_was_slow_in_most_rounds() -> None:
    ratio = Contest([1.0] * 10, [1.0] * 2 + [10.0] * 8).ratio
    assert Result("append", ratio, at_most=1.2).verdict == "?"
