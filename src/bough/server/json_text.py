"""JSON as it is sent: any text of the store, half characters included."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse

from bough.model import Json


def encoded(value: Json) -> bytes:
    """JSON in UTF-8; what UTF-8 cannot express is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


class JsonAnswer(JSONResponse):
    """An answer in JSON."""

    def render(self, content: Json) -> bytes:
        return encoded(content)
