"""Answer a question, from its placeholder to the last edit, or from wherever a crash left it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from bough.agent import Began, Called, Event, Outcome, Stop, regenerate, run, stored_outcome
from bough.channels.channel import log
from bough.channels.delivery import Delivery, LiveDelivery
from bough.channels.questions import place, question
from bough.channels.service import persist
from bough.errors import BoughError, Busy, ChannelError, NotFound, StorageError
from bough.model import Usage
from bough.providers.types import Piece

if TYPE_CHECKING:
    from bough.channels.channel import Channel
    from bough.channels.events import ChannelEvent
    from bough.channels.inbox import Received
    from bough.model import Node
    from bough.session import Session

BUSY_SECONDS = 600.0
"""How long a question waits for another writer of the session, as a terminal."""
SHOWN_ELSEWHERE = 6
"""Messages that came from elsewhere and are shown, each by its beginning."""
ANSWERED = ("complete", "stopped")


class Answering:
    """The answer to one batch: messages that were sent one after another, or one edit, or a question asked again."""

    def __init__(self, channel: Channel, batch: Sequence[Received], stop: Stop) -> None:
        self._channel = channel
        self._batch = batch
        self._stop = stop
        self._events = [received.event for received in batch]
        self._first: ChannelEvent = self._events[0]
        self._turn = batch[0].turn
        self._delivery: Delivery = channel.delivery(self._first)
        self._session: Session = channel.session(self._first.conversation)

    def answer(self) -> None:
        """Answer, and say that the events are done. At a stop of the bot they stay as they are."""
        channel = self._channel
        refusal = channel.members.refusal(self._first.sender, channel.store.clock())
        try:
            if refusal is not None and self._turn is None:
                self._delivery.finish(refusal)
                self._finish(None)
                return
            outcome = self._outcome()
            if outcome is not None and not (outcome.status == "interrupted" and channel.stop.is_set):
                self._delivery.finish(text_of(outcome))
                self._finish(outcome)
        except ChannelError as error:
            if channel.stop.is_set:
                return
            log.warning("%s: an answer was not delivered: %s", channel.service.name, error)
            self._finish(None)

    def _outcome(self) -> Outcome | None:
        """The outcome of the turn; None if the bot stops, or if it failed, which is said in the chat."""
        try:
            self._prepare()
            if self._first.command == "retry" and self._turn is None:
                self._turn = next((turn.id for turn in self._session.unfinished), None)
            return self._run_or_load()
        except (ChannelError, StorageError):
            raise
        except BoughError as error:
            if self._channel.stop.is_set:
                return None
            self._delivery.finish(f"⚠ {error}")
            self._finish(None)
            return None

    def _prepare(self) -> None:
        """Put the session where the question belongs, say what people should know, and send the placeholder."""
        if not self._delivery.sent and self._turn is None:
            notes = [self._said_elsewhere(), place(self._channel, self._session, self._first)]
            for position, note in enumerate(note for note in notes if note):
                nonce = f"{self._first.delivery}:note{position}"
                persist(partial(self._send, note, nonce), self._channel.stop)
        if not self._delivery.sent:
            persist(lambda: self._delivery.show(""), self._channel.stop)

    def _send(self, text: str, nonce: str) -> str:
        return self._channel.service.send(self._first.chat, text, nonce=nonce)

    def _said_elsewhere(self) -> str | None:
        chats, conversation = self._channel.chats, self._first.conversation
        nodes = chats.added_elsewhere(conversation, self._session.path()) if chats.shown(conversation) else []
        if not nodes:
            return None
        lines = [f"> {summary(node)}" for node in nodes[-SHOWN_ELSEWHERE:]]
        return "\n".join([f"Meanwhile, {len(nodes)} messages were added elsewhere:", *lines])

    def _run_or_load(self) -> Outcome:
        """Ask, resume what a crash has cut off, or load what was complete."""
        if self._turn is not None:
            with suppress(NotFound):  # deleted since: it is asked again
                turn = self._channel.store.turn_info(self._turn)
                if turn.status in ANSWERED:
                    return stored_outcome(self._channel.store, turn.id)
        live = LiveDelivery(self._delivery, self._channel.service, self._first.chat)
        try:
            return self._run(live)
        finally:
            live.end()

    def _run(self, live: LiveDelivery) -> Outcome:
        ends_at = time.monotonic() + BUSY_SECONDS
        with self._channel.agent(self._session) as agent:

            def listener(event: Event) -> None:
                if isinstance(event, Piece) and event.kind == "text":
                    live.add(event.text)
                elif isinstance(event, Called):
                    live.restart()
                elif isinstance(event, Began):
                    self._began(event.turn)

            while True:
                try:
                    if self._first.command == "retry" and self._turn is None:
                        return regenerate(agent, self._session, listener=listener, stop=self._stop)
                    return run(
                        agent, self._session, None if self._turn else question(self._channel, self._events),
                        resume=self._turn, listener=listener, stop=self._stop,
                        idempotency_key=None if self._turn else f"{self._channel.service.name}:{self._first.delivery}",
                        metadata={"sender": self._first.sender},
                    )  # fmt: skip
                except Busy:
                    if time.monotonic() >= ends_at or self._stop.is_set:
                        raise

    def _began(self, turn: str) -> None:
        self._turn = turn
        self._channel.inbox.begin([received.n for received in self._batch], turn)
        for event in self._events:
            if event.message is not None and event.kind != "command":
                self._channel.name(event.chat, event.message, turn, event.version)

    def _finish(self, outcome: Outcome | None) -> None:
        """Say which node the answer is, what it cost, and that the events are done."""
        channel, conversation = self._channel, self._first.conversation
        usage = Usage() if outcome is None else outcome.usage
        if outcome is not None:
            for sent in self._delivery.sent:
                channel.name(sent.chat, sent.external, outcome.last)
        head = self._session.head

        def also(now: int) -> None:
            channel.members.charge(self._first.sender, usage, now)
            channel.chats.show(conversation, head)

        channel.inbox.finish([received.n for received in self._batch], also)


def text_of(outcome: Outcome) -> str:
    """What the chat shows of an outcome."""
    match outcome.status:
        case "complete":
            return outcome.text or "(The answer has no text.)"
        case "stopped":
            return f"{outcome.text}\n\n*Stopped.*".strip()
        case _:
            return f"{outcome.text}\n\n⚠ {outcome.error or 'The answer was cut off.'} /retry asks again.".strip()


def summary(node: Node) -> str:
    """The beginning of a message, on one line."""
    words = " ".join(node.message.text.split())
    return f"{node.role}: {words[:160]}{'…' if len(words) > 160 else ''}"
