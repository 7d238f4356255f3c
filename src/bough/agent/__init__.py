"""The agent loop: run a model with tools in a session, which stores every step."""

from bough.agent.compaction import Compaction
from bough.agent.delegates import delegate
from bough.agent.events import Answered, Began, Called, Compacted, Event, Listener, Replied
from bough.agent.functions import tool
from bough.agent.limits import Reason, Stop
from bough.agent.loop import regenerate, run, stored_outcome
from bough.agent.several import run_several
from bough.agent.tools import Bound, Call, Result, ToolSource
from bough.agent.types import Agent, Limits, Outcome

__all__ = [
    "Agent",
    "Answered",
    "Began",
    "Bound",
    "Call",
    "Called",
    "Compacted",
    "Compaction",
    "Event",
    "Limits",
    "Listener",
    "Outcome",
    "Reason",
    "Replied",
    "Result",
    "Stop",
    "ToolSource",
    "delegate",
    "regenerate",
    "run",
    "run_several",
    "stored_outcome",
    "tool",
]
