"""JSON-RPC on lines of stdin and stdout. Requests are answered in threads; what is written is whole lines."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, TypeAlias

from bough.errors import BoughError, Busy, Invalid, NotFound

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_FOUND, BUSY = -32002, -32000
THREADS = 16
Params: TypeAlias = dict[str, Any]
Method: TypeAlias = Callable[[Params], Any]


class RpcConnection:
    """One client. `methods` answer its requests, `notices` take its notifications."""

    def __init__(
        self, reading: IO[str], writing: IO[str], methods: dict[str, Method], notices: dict[str, Method],
        at_end: Callable[[], None],
    ) -> None:  # fmt: skip
        self._reading = reading
        self._writing = writing
        self._methods = methods
        self._notices = notices
        self._at_end = at_end
        self._lock = threading.Lock()

    def serve(self) -> None:
        """Answer until the client closes its side; what is running then is waited for."""
        with ThreadPoolExecutor(THREADS, "acp") as threads:
            for line in self._reading:
                if line.strip():
                    self._take(line, threads)
            self._at_end()

    def notify(self, method: str, params: Params) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _take(self, line: str, threads: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, PARSE_ERROR, "That line is not JSON.")
            return
        if not isinstance(message, dict):
            self._fail(None, INVALID_REQUEST, "A message is a JSON object.")
            return
        method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method is None:
            return  # an answer: nothing is asked of clients
        if not isinstance(method, str) or not isinstance(params, dict):
            self._fail(id, INVALID_REQUEST, "A request has a method and an object of parameters.")
        elif "id" not in message:
            if method in self._notices:
                self._notices[method](params)
        elif method not in self._methods:
            self._fail(id, UNKNOWN_METHOD, f"There is no method {method!r:.60}.")
        else:
            threads.submit(self._answer, id, self._methods[method], params)

    def _answer(self, id: Any, method: Method, params: Params) -> None:
        try:
            result = method(params)
        except BoughError as error:
            self._fail(id, code_of(error), str(error), {"code": error.code.replace("_", "-")})
        except (KeyError, TypeError, AttributeError) as error:
            self._fail(id, INVALID_PARAMS, f"Parameters are missing or of another type: {error!r:.100}.")
        except Exception as error:
            self._fail(id, INTERNAL, f"This is a bug in bough ({type(error).__name__}).")
        else:
            self._send({"jsonrpc": "2.0", "id": id, "result": result})

    def _fail(self, id: Any, code: int, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message} | ({"data": data} if data is not None else {})
        self._send({"jsonrpc": "2.0", "id": id, "error": error})

    def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message) + "\n"
        with self._lock:
            self._writing.write(text)
            self._writing.flush()


def code_of(error: BoughError) -> int:
    """The code of JSON-RPC for an error."""
    if isinstance(error, NotFound):
        return NOT_FOUND
    if isinstance(error, Busy):
        return BUSY
    return INVALID_PARAMS if isinstance(error, Invalid) else INTERNAL
