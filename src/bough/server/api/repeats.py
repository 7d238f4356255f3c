"""Repeated requests: a POST with an `Idempotency-Key` that was seen before gets the answer of the first one."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from hashlib import sha256
from typing import Any

from starlette.responses import Response

from bough.server.problems import HttpProblem

MOST = 10_000
SECONDS = 86_400.0


class Repeats:
    """The answers of the last day, in memory. What is stored under a key of its own is recognised by the store."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[float, bytes, asyncio.Future[Response]]] = OrderedDict()

    async def once(self, key: Hashable, mark: bytes, run: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to a request: run now, or that of the first with this key. One that failed may be repeated.

        Raises `HttpProblem` (422) for a key that another request had.
        """
        self._forget()
        if (known := self._answers.get(key)) is not None:
            _, former, answer = known
            if former != mark:
                raise HttpProblem(422, "idempotency-key-reused", "That Idempotency-Key belongs to another request; "
                                  "nothing was done. Send a new one.")  # fmt: skip
            made = await asyncio.shield(answer)
            headers = {**made.headers, "Idempotent-Replayed": "true"}
            return Response(made.body, made.status_code, headers)
        answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._answers[key] = time.monotonic(), mark, answer
        try:
            made = await run()
        except BaseException as error:
            self._answers.pop(key, None)
            answer.set_exception(error if isinstance(error, Exception) else HttpProblem(409, "busy", "Try again."))
            raise
        answer.set_result(made)
        return made

    def _forget(self) -> None:
        oldest = time.monotonic() - SECONDS
        while self._answers and (len(self._answers) > MOST or next(iter(self._answers.values()))[0] < oldest):
            self._answers.popitem(last=False)


def fingerprint(*parts: Any) -> bytes:
    """What two requests have in common exactly when they ask for the same."""
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).digest()
