"""Where a response is stored: what it continues, its session, and its turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bough.codec.digest import chain
from bough.errors import Ambiguous, Busy, Conflict, NotFound
from bough.formats.encoder import own
from bough.model import Json, Message, Other, user
from bough.model.ids import is_plain
from bough.server.openai import resource
from bough.server.openai.items import ENCRYPTED, FAMILY, items_of
from bough.server.openai.parameters import ResponseRequest, messages_of
from bough.server.openai.refusals import invalid, locked, not_found
from bough.server.openai.upstream import as_node
from bough.server.running import LEASE

if TYPE_CHECKING:
    from bough.model import Node
    from bough.session import Session
    from bough.store import Store
    from bough.turn import Turn

CHANNEL = "openai"
CONVERSATION = f"{CHANNEL}:conv_"


def conversation_key(id: str) -> str:
    """The session of a conversation; an id with a colon is the key of any session. Raises `HttpProblem`."""
    if not is_plain(id):
        raise not_found("Conversation", id)
    return id if ":" in id else f"{CHANNEL}:{id}"


def conversation(store: Store, id: str) -> Session:
    """The session of a conversation. Raises `HttpProblem`."""
    key = conversation_key(id)
    if store.find_session(key) is None:
        raise not_found("Conversation", id)
    return store.session(key)


def leaf_of(store: Store, previous: str) -> str:
    """The message that is continued: the last one of a response, or, by its own id, any message of the store.

    Raises `HttpProblem`.
    """
    found = resource.find(store, previous)
    if found is None:
        try:
            id = None if previous.startswith("resp_") else store.find_id(previous)
        except Ambiguous:
            id = None
        if id is None:
            detail = f"Previous response with id {previous!r} not found."
            raise invalid("previous_response_id", detail, "previous-response-not-found")
        return id
    if found.turn.status not in ("complete", "stopped"):
        status = resource.STATUSES[found.turn.status]
        raise invalid("previous_response_id", f"Response {previous!r} is {status}; it cannot be continued.")
    return found.turn.last_id


def dialog(store: Store, request: ResponseRequest) -> list[Message]:
    """The whole dialog of a response that is not stored. Raises `HttpProblem`."""
    before: list[Node] = []
    if request.previous is not None:
        before = store.path(leaf_of(store, request.previous))
    elif request.conversation is not None:
        before = conversation(store, request.conversation).path()
    return [*(node.message for node in before), *resolved(store, request.messages, lambda: before)]


def open_turn(store: Store, request: ResponseRequest, record: dict[str, Any], model: str) -> Turn:
    """The turn of a new response, with its input. Raises `HttpProblem`, and `BoughError` if the store cannot."""
    opening = ResponseOpening(store, record, {"model": model, "instructions": request.instructions})
    if request.conversation is not None:
        session = conversation(store, request.conversation)
        try:
            return opening.open(session, resolved(store, request.messages, session.path))
        except Busy:
            raise locked() from None
    if request.previous is not None:
        leaf = leaf_of(store, request.previous)
        return opening.open_after(leaf, resolved(store, request.messages, lambda: store.path(leaf)))
    messages = resolved(store, request.messages, list)
    split = next((place + 1 for place in range(len(messages) - 2, -1, -1) if messages[place].role == "assistant"), 0)
    if split:  # the client holds the whole dialog: what is stored of it is not stored again
        leaf = recognised(store, messages[:split])
        return opening.open_after(leaf, messages[split:])
    return opening.open(store.session(f"{CHANNEL}:{record['id']}"), messages)


def recognised(store: Store, messages: Sequence[Message]) -> str:
    """The id of the last message of a dialog that ends with a reply; what is new in it is stored."""
    session = store.record(CHANNEL, messages)
    last = chain(messages)[-1]
    return next(node.id for node in reversed(session.path()) if node.digest == last)


class ResponseOpening:
    """Opens the turn of a response."""

    def __init__(self, store: Store, record: dict[str, Any], details: dict[str, Any]) -> None:
        self._store = store
        self._record = record
        self._details = details

    def open(self, session: Session, messages: Sequence[Message], **place: Any) -> Turn:
        """The turn in a session. Raises `Busy` if another one is open, and `Conflict` if the head is elsewhere."""
        first, *rest = messages or [user()]
        self._record["inputs"] = 1 + len(rest)
        turn = session.turn(
            first, **self._details, **place, external_name=(resource.KIND, self._record["id"]),
            metadata={resource.RECORD: self._record}, wait=0, lease=LEASE,
        )  # fmt: skip
        if rest:
            try:
                turn.add(rest)
            except BaseException as error:
                turn.end_with(error)
                raise
        return turn

    def open_after(self, leaf: str, messages: Sequence[Message]) -> Turn:
        """The turn after a message: in the session that stands there, or else in a fork, as often as one likes."""
        session = self._session_at(leaf)
        if session is not None:
            try:
                return self.open(session, messages, after=leaf)
            except (Busy, Conflict, NotFound):
                pass
        return self.open(self._store.fork(leaf, f"{CHANNEL}:{self._record['id']}"), messages)

    def _session_at(self, leaf: str) -> Session | None:
        """The session of responses that a message belongs to, unless it is a conversation or another program's."""
        (node,) = self._store.get_messages([leaf])
        key = None if node.turn_id is None else self._store.turn_info(node.turn_id).session
        if key is None or not key.startswith(f"{CHANNEL}:") or key.startswith(CONVERSATION):
            return None
        return self._store.session(key)


def resolved(store: Store, messages: Sequence[Message], before: Callable[[], list[Node]]) -> list[Message]:
    """Messages in which references to items are the items themselves. Raises `HttpProblem` for an unknown one."""
    if not any(is_reference(message) for message in messages):
        return list(messages)
    on_path, items = {item["id"] for item in items_of(before())}, []
    for place, message in enumerate(messages):
        for item in items_of([as_node(message, place)], (ENCRYPTED,)):
            if item["type"] != "item_reference":
                items.append(item)
            elif item["id"] not in on_path:
                items.append(item_of_response(store, item["id"]))
    return list(messages_of(items, "input"))


def item_of_response(store: Store, id: str) -> dict[str, Json]:
    """An item that a response has added, whose id has that of the response in it. Raises `HttpProblem`."""
    found = resource.find(store, f"resp_{id.split('_')[1]}") if id.count("_") == 2 else None
    output = [] if found is None else resource.output_of(store, found, (ENCRYPTED,))
    item = next((item for item in output if item["id"] == id), None)
    if item is None:
        raise invalid("input", f"Item with id {id!r} not found.", "item-not-found")
    return item


def is_reference(message: Message) -> bool:
    """Whether a message has a reference to an item."""
    return any(isinstance(block, Other) and block.type == "item_reference" and own(block.raw, FAMILY) is not None
               for block in message.blocks)  # fmt: skip
