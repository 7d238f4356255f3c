"""One program per SDK, as its users write it: an agent with a tool, which asks a model and keeps the conversation.

Each has `ask(where, url, key, question)`, which gives the answer. As a command it asks one question after the other.
"""

from __future__ import annotations

import os

NAMES = os.environ.get("BOUGH_ADAPTERS", "openai_agents langgraph pydantic_ai").split()
"""The SDKs that are light enough for every environment, or those that this one has."""


def look(place: str) -> str:
    """Looks at a place."""
    return f"the {place} is calm"
