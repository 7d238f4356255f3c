"""An adapter is imported without its SDK, which is imported when one of its classes is used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

MODULES = {
    "openai_agents": "agents", "langgraph": "langgraph", "claude_agent_sdk": "claude_agent_sdk",
    "pydantic_ai": "pydantic_ai", "strands": "strands", "google_adk": "google.adk", "litellm": "litellm",
    "agent_framework": "agent_framework", "llama_index": "llama_index", "opentelemetry": "opentelemetry",
}  # fmt: skip


def test_no_adapter_imports_its_sdk_before_it_is_used() -> None:
    names = ", ".join(f"bough.adapters.{name}" for name in MODULES)
    script = f"import {names}, sys; print(*(set({list(MODULES.values())!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_missing_sdk_is_named_with_the_way_to_install_it() -> None:
    script = (
        "import sys\n"
        "sys.modules['langgraph'] = sys.modules['langgraph.checkpoint'] = None\n"
        "from bough.adapters import langgraph\n"
        "try:\n    langgraph.BoughSaver\n"
        "except ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("bough.adapters.langgraph.BoughSaver needs `pip install langgraph` (")


def test_another_name_of_an_adapter_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = import_module("bough.adapters.langgraph").Nothing
