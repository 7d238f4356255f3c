"""One task of Cline: messages in Anthropic's format, with times, tokens and the model from the screen's messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bough.errors import FormatError
from bough.formats import get
from bough.formats.payload import at, count, parsed, text_or_none, total
from bough.importers.common.linked import linked
from bough.importers.common.timestamps import from_any
from bough.importers.common.titles import shortened
from bough.model import Json, Usage
from bough.model.imported import Conversation, Item, Skipped

NAME = "cline"
API, UI = "api_conversation_history.json", "ui_messages.json"
_TASK = re.compile(r"^\s*<(task|user_message)>\s*(.*?)\s*</\1>", re.DOTALL)
_DIRECTORY = re.compile(r"# Current (?:Working|Workspace) Directory \((.+?)\) Files")


class ApiRequest(NamedTuple):
    """One request to the model, from the screen's messages."""

    asked_at: int | None
    replied_at: int | None
    usage: Usage | None
    model: str | None
    provider: str | None


class Task:
    def __init__(self, id: str, place: str, messages: list[Json], shown: list[Json]) -> None:
        self.id = id
        self._place = place
        self._messages = messages
        self._shown = shown
        self._requests = list(_requests(shown))
        times = [from_any(at(one, "ts")) or 0 for one in [*shown, *messages]]
        self.ended = max(times, default=0)
        self._began = min(filter(None, times), default=None)

    def conversation(self) -> Conversation:
        models = [request.model for request in self._requests if request.model]
        return Conversation(
            NAME,
            self.id,
            self._items(),
            title=shortened(self._prompt()),
            directory=self._directory(),
            model=models[-1] if models else None,
            created_at=self._began or from_any(int(self.id) if self.id.isdigit() else None),
            updated_at=self.ended or None,
        )

    def _prompt(self) -> str:
        shown = next((text for one in self._shown if (text := text_or_none(at(one, "text")))), "")
        text = shown or _first_text(self._messages[0] if self._messages else None)
        found = _TASK.match(text)
        return found[2] if found else text

    def _directory(self) -> str | None:
        for message in self._messages[:2]:
            content = at(message, "content")
            for part in content if isinstance(content, list) else ():
                if found := _DIRECTORY.search(text_or_none(at(part, "text")) or ""):
                    return found[1]
        return None

    def _items(self) -> Iterator[Item]:
        decode, parent, replies = get("anthropic").decode, None, 0
        for number, message in enumerate(self._messages):
            own = from_any(at(message, "ts"))
            is_reply = at(message, "role") == "assistant"
            request = self._requests[replies] if replies < len(self._requests) else None
            fields = {key: at(message, key) for key in ("role", "content")}
            try:
                messages = decode([fields]).messages
            except FormatError as error:
                yield Skipped(f"{self._place}[{number}]", str(error), message)
                continue
            seen = (request.replied_at if is_reply else request.asked_at) if request else None
            # The place of a message in the list is its id: the extension never inserts, and edits cut the end off.
            made = linked(
                f"{self.id}:{number}", messages, parent, own or seen,
                model=text_or_none(at(message, "modelInfo", "modelId")) or (request.model if request else None),
                provider=request.provider if request else None,
                usage=_metrics(message) or (request.usage if request else None),
            )  # fmt: skip
            replies += is_reply
            parent = made[-1].id if made else parent
            yield from made


def _first_text(message: Json) -> str:
    content = at(message, "content")
    if isinstance(content, str):
        return content
    texts = (text_or_none(at(part, "text")) for part in (content if isinstance(content, list) else ()))
    return next(filter(None, texts), "")


def _requests(shown: list[Json]) -> Iterator[ApiRequest]:
    """The requests that were answered: one that was retried is on the screen several times."""
    for number, one in enumerate(shown):
        if at(one, "say") != "api_req_started":
            continue
        about = parsed(text_or_none(at(one, "text")) or "") or {}
        if about.get("cancelReason") == "streaming_failed" or "request" not in about:
            continue
        after = next((other for other in shown[number + 1 :] if at(other, "type") in ("say", "ask")), None)
        model = at(one, "modelInfo")
        cost = about.get("cost")
        usage = Usage(
            total(count(about, "tokensIn"), count(about, "cacheReads"), count(about, "cacheWrites")),
            count(about, "tokensOut"),
            count(about, "cacheReads"),
            cost=float(cost) if isinstance(cost, (int, float)) else None,
        )
        yield ApiRequest(
            from_any(at(one, "ts")),
            from_any(at(after, "ts")) if after is not None else None,
            None if usage == Usage() else usage,
            text_or_none(at(model, "modelId")),
            text_or_none(at(model, "providerId")),
        )


def _metrics(message: Json) -> Usage | None:
    """The tokens that newer versions keep with the message itself."""
    tokens, cost = at(message, "metrics", "tokens"), at(message, "metrics", "cost")
    usage = Usage(
        total(count(tokens, "prompt"), count(tokens, "cached")), count(tokens, "completion"), count(tokens, "cached"),
        cost=float(cost) if isinstance(cost, (int, float)) else None,
    )  # fmt: skip
    return None if usage == Usage() else usage
