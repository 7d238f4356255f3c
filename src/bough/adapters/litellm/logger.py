"""A callback of LiteLLM that records every call."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_logger import CustomLogger

from bough import formats
from bough.adapters.calls import ModelCall, record
from bough.adapters.common import key_of, open_store, settled
from bough.model import Usage
from bough.model.values import replace
from bough.store import Store

if TYPE_CHECKING:
    from bough.db import StrPath


class BoughLogger(CustomLogger):
    """Records calls of `completion` and `acompletion`: what was sent and the reply, with its cost as LiteLLM counts it.

    A call belongs to the session in `metadata={"session_id": …}` or `litellm_session_id=…`; otherwise it has one of its
    own. Of a request only what is new is stored. A call that failed is a failed turn. `where` and `store` are as in
    the other adapters.
    """

    def __init__(self, where: StrPath | None = None, *, store: Store | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.store, self._owned = open_store(where, store)
        self._lock = Lock()  # callbacks of calls that follow each other may run at the same time

    def close(self) -> None:
        """Closes the store, unless it was given."""
        if self._owned:
            self.store.close()

    def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002
        self._record(kwargs, response_obj, None)

    def log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002
        self._record(kwargs, None, str(kwargs.get("exception") or "The call failed."))

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002
        await settled(self._record, kwargs, response_obj, None)

    async def async_log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:  # noqa: ARG002
        await settled(self._record, kwargs, None, str(kwargs.get("exception") or "The call failed."))

    def _record(self, kwargs: Any, response: Any, error: str | None) -> None:
        messages = kwargs.get("messages")
        if not isinstance(messages, list) or (error is None and not hasattr(response, "choices")):
            return  # an embedding, an image: no conversation
        form = formats.get("openai.chat")
        sent = [message for message in form.decode(messages).messages if message.role != "system"]
        call = ModelCall(sent, error=error, model=kwargs.get("model"), provider=kwargs.get("custom_llm_provider"))
        if error is None:
            decoded = form.decode(response.model_dump())
            usage: Usage = replace(decoded.provenance.usage, cost=kwargs.get("response_cost"))
            call = replace(
                call, reply=list(decoded.messages), usage=usage, model=decoded.provenance.model or call.model,
                request_id=decoded.provenance.response_id,
            )  # fmt: skip
        with self._lock:
            record(self.store.session(session_of(kwargs)), call)


def session_of(kwargs: Any) -> str:
    """The key of the session that a call belongs to."""
    about = kwargs.get("litellm_params") or {}
    metadata = about.get("metadata") or {}
    named = metadata.get("session_id") or about.get("litellm_session_id") or kwargs.get("litellm_session_id")
    return key_of(named or f"litellm:{kwargs.get('litellm_call_id')}")
