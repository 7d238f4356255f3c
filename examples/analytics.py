"""Who answers whom, at what length and price: a report on a store by DuckDB, from an export of its tables."""

import subprocess
import sys
import tempfile

import duckdb

with tempfile.TemporaryDirectory() as tables:
    words = [sys.executable, "-m", "bough", "--db", sys.argv[1], "export", "--all", tables, "-f", "parquet", "--force"]
    subprocess.run(words, check=True, capture_output=True)
    for name, question in {
        "Replies by model": "SELECT coalesce(model, '?'), count(*), sum(output_tokens), sum(cost)"
        " FROM '{}/replies.parquet' GROUP BY 1 ORDER BY 2 DESC, 1",
        "Turns by how they ended": "SELECT status, count(*) FROM '{}/turns.parquet' GROUP BY 1 ORDER BY 1",
        "Longest messages": "SELECT session, role, size FROM '{}/messages.parquet' ORDER BY size DESC, id LIMIT 3",
    }.items():
        print(name)
        for row in duckdb.sql(question.format(tables)).fetchall():
            print("   ", *("unknown" if cell is None else cell for cell in row))
