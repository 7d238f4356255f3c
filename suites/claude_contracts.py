"""The contracts of session stores that the Claude Agent SDK ships; its function ends at the first broken one."""

import asyncio
import json

from claude_agent_sdk.testing import run_session_store_conformance

from bough.adapters.claude_agent_sdk import BoughSessionStore

CONTRACTS = 14
made = []


def fresh():
    made.append(BoughSessionStore(":memory:"))
    return made[-1]


try:
    asyncio.run(run_session_store_conformance(fresh))
    print(json.dumps({"passed": CONTRACTS, "failed": []}))
except Exception as error:
    print(json.dumps({"passed": len(made) - 2, "failed": [f"store {len(made)}: {type(error).__name__}: {error}"]}))
