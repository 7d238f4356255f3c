"""Benchmarks: times and sizes as ratios to raw apsw doing the same work in the same run: `python -m bench`."""
