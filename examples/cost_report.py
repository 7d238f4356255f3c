"""What the last thirty days have cost: by day and model, and the ten dearest conversations with their delegates."""

import sys
from datetime import UTC, datetime, timedelta

import bough


def line(name: str, usage: bough.Usage) -> str:
    cost = "unknown" if usage.cost is None else f"${usage.cost:.4f}"
    return f"{name:<40} {usage.input_tokens or 0:>10} {usage.output_tokens or 0:>8} {cost:>10}"


with bough.connect(sys.argv[1]) as store:
    since = datetime.now(UTC) - timedelta(days=30)
    for total in store.usage(by=("day", "model"), since=since):
        print(line(" ".join(name or "?" for name in total.names), total.usage))
    found = [(info.title or info.key, store.session(info.key)) for info in store.sessions(delegates=False)]
    totals = [(name, session.usage(since=since).usage) for name, session in found]
    for name, usage in sorted(totals, key=lambda row: -(row[1].cost or 0))[:10]:
        print(line(name, usage))
