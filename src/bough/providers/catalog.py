"""Known services: address, environment variable of the key, API and default model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bough.model.values import value


@value
class Service:
    """One provider with an HTTP API."""

    base_url: str
    key_env: str | None = None
    """None for local servers, which need no key."""
    type: str = "openai"
    model: str | None = None
    """Default model of the provider."""


ANTHROPIC, OPENAI = "https://api.anthropic.com/v1", "https://api.openai.com/v1"
SERVICES: dict[str, Service] = {
    "anthropic": Service(ANTHROPIC, "ANTHROPIC_API_KEY", "anthropic", "claude-sonnet-5-5"),
    "openai": Service(OPENAI, "OPENAI_API_KEY", "openai.responses", "gpt-5.4-mini"),
    "openrouter": Service("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", model="openrouter/auto"),
    "mistral": Service("https://api.mistral.ai/v1", "MISTRAL_API_KEY", model="mistral-medium-latest"),
    "groq": Service("https://api.groq.com/openai/v1", "GROQ_API_KEY", model="openai/gpt-oss-120b"),
    "deepseek": Service("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", model="deepseek-chat"),
    "gemini": Service("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "xai": Service("https://api.x.ai/v1", "XAI_API_KEY"),
    "together": Service("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "fireworks": Service("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "cerebras": Service("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "ollama": Service("http://localhost:11434/v1"),
    "lmstudio": Service("http://localhost:1234/v1"),
    "vllm": Service("http://localhost:8000/v1"),
    "llamacpp": Service("http://localhost:8080/v1"),
}
_ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL", "ollama": "OLLAMA_HOST"}
"""Environment variables that override the address, as the SDKs of these providers read them."""


def service(name: str, table: Mapping[str, Any], environ: Mapping[str, str]) -> Service | None:
    """The service of that name, with overrides of the configuration and environment; None if unknown."""
    known = SERVICES.get(name)
    if known is None and "base_url" not in table:
        return None
    known = known or Service("")
    override = environ.get(_ADDRESSES.get(name, ""))
    base_url = table.get("base_url") or (_address(name, override) if override else known.base_url)
    # Servers that replace OpenAI reliably support only its older API.
    api_type = "openai" if known.type == "openai.responses" and base_url.rstrip("/") != OPENAI else known.type
    return Service(
        base_url,
        table.get("api_key_env") or known.key_env,
        table.get("type") or api_type,
        table.get("model") or known.model,
    )


def _address(name: str, address: str) -> str:
    """An address from the environment, with scheme and version added if missing."""
    address = address.rstrip("/")
    if name == "openai":
        return address
    whole = address if "://" in address else f"http://{address}"
    return whole if whole.endswith("/v1") else f"{whole}/v1"
