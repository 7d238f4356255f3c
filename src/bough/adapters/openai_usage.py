"""What the replies of a run of the OpenAI Agents SDK cost, noted as their items are saved."""

from __future__ import annotations

from typing import Any

from bough.adapters.common import priced
from bough.model import Usage
from bough.model.usage import subtract

RUNS = 16
"""How many runs a session remembers, of which some may be at work at the same time."""


class RunUsage:
    """The replies that were given and not yet saved.

    `RunContextWrapper.usage` has the tokens of a run so far; hooks are told model and ids of each reply too.
    """

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._counted: dict[int, tuple[Any, Usage]] = {}
        self._told: list[dict[str, Any]] = []

    def begin(self, wrapper: Any) -> None:
        """Notes what a run had used when the session first saw it: a resumed one brings what was counted before."""
        if wrapper is not None and id(wrapper) not in self._counted:
            self._counted[id(wrapper)] = (wrapper, usage_of(wrapper.usage))
            while len(self._counted) > RUNS:
                del self._counted[next(iter(self._counted))]

    def take(self, wrapper: Any) -> dict[str, Any]:
        """Arguments of `Session.append` for the replies since the last call."""
        used = Usage()
        if wrapper is not None:
            self.begin(wrapper)
            before, now = self._counted[id(wrapper)][1], usage_of(wrapper.usage)
            self._counted[id(wrapper)] = (wrapper, now)
            used = subtract(now, before)
        if self._told:
            told, self._told = self._told, []
            total = sum((one["usage"] for one in told), Usage())
            return {"usage": total, "model": told[-1]["model"], "request_id": told[-1]["request_id"]}
        if not used.input_tokens and not used.output_tokens:
            return {}
        return {"usage": priced(used, self._model), "model": self._model}

    def give_back(self, about: dict[str, Any]) -> None:
        """Keeps what could not be saved for the next call."""
        if about:
            self._told.insert(0, {"model": None, "request_id": None, **about})

    def hooks(self) -> Any:
        """An instance of the SDK's `RunHooks`."""
        from agents import RunHooks

        told = self._told_of

        class Hooks(RunHooks):
            async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:  # noqa: ARG002
                told(agent, response)

        return Hooks()

    def _told_of(self, agent: Any, response: Any) -> None:
        model = model_of(agent) or self._model
        used = priced(usage_of(response.usage), model)
        self._told.append({"model": model, "usage": used, "request_id": response.request_id or response.response_id})


def model_of(agent: Any) -> str | None:
    """The name of the model of an agent; the SDK's default if it has none."""
    model = agent.model
    if model is None:
        from agents.models import get_default_model

        return str(get_default_model())
    name = model if isinstance(model, str) else getattr(model, "model", None)
    return name if isinstance(name, str) else None


def usage_of(used: Any) -> Usage:
    """The SDK's counts. They are never None there: an unknown one is 0."""
    return Usage(
        used.input_tokens,
        used.output_tokens,
        getattr(used.input_tokens_details, "cached_tokens", None),
        getattr(used.output_tokens_details, "reasoning_tokens", None),
    )
