"""`logs.db` of llm: the older tables, the newer ones, and both in one file."""

from __future__ import annotations

from pathlib import Path

from tests.importers.sample import FILES, Sample, database


def run(path: Path, script: str) -> Path:
    """Run an SQL script on a file."""
    return database(path, script)


def older(place: Path) -> Path:
    return run(place / "logs.db", (FILES / "llm" / "older.sql").read_text())


def both(place: Path) -> Path:
    return run(older(place), (FILES / "llm" / "newer.sql").read_text())


OLD, NEW = "01old00000000000000000000", "01new00000000000000000000"
GO_ON = f"""
INSERT INTO messages VALUES ('b2:w5', 'b2:w4', 'user', NULL), ('b2:w6', 'b2:w5', 'assistant', NULL);
INSERT INTO parts VALUES (30, 'b2:w5', 0, 'text', NULL, 'And now?', NULL);
INSERT INTO parts VALUES (31, 'b2:w6', 0, 'text', NULL, 'Calm.', NULL);
INSERT INTO turns VALUES ('01new0000000000000000000t9', '{OLD}b', 'b2:w5', 'b2:w6', 'gpt-5', NULL, NULL, NULL,
  1, 1, NULL, 1, '2026-08-07T10:00:00+00:00', NULL);
UPDATE threads SET tip_message_hash = 'b2:w6' WHERE id = '{OLD}b'
"""

SAMPLES = [
    Sample(
        "llm",
        "the older tables",
        older,
        conversations=3,
        messages=11,
        edges={
            "Be brief.": None,
            "What is this?": "Be brief.",
            "A note about clouds.\nAnd the rain?": "A cloud.",
            "It rains.": "",
            "Strong.": "How is the wind?",
            "Alone.": "Outside of any conversation",
        },
        sessions={f"llm:{OLD}a": "It rains.", f"llm:{OLD}b": "Strong."},
    ),
    Sample(
        "llm",
        "both generations in one file",
        both,
        conversations=5,
        messages=22,
        edges={
            "A note about clouds.\nStill?": "Strong.",
            "Is it snowing?": "Be brief.",
            "Look again.": "I cannot see.",
            "Never mind.": "I cannot see.",
        },
        sessions={f"llm:{OLD}b": "Weaker.", f"llm:{NEW}a": "It snows.", f"llm:{NEW}b": "Fine."},
        grow=lambda path: run(path, GO_ON),
        grown=2,
    ),
]
