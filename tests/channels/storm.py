"""Storms: people ask in many chats while the bot is killed, then what was asked and answered is compared."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bough.channels.delivery import PLACEHOLDER
from tests.channels.bot_process import BotProcess
from tests.channels.conftest import Conversations, Fake
from tests.channels.fatal_bot import STEPS

POINTS = [f"{step} {when}" for step in STEPS for when in ("before", "after")]
BETWEEN = ("send after", "remember before")
"""Between sending a placeholder and storing its id: what Telegram cannot repair."""
FATAL_SECONDS, CERTAIN_SECONDS = 4.0, 30.0
"""How long a kill at a point is waited for, if it may not come, and if the first call brings it."""


@dataclass
class StormChat:
    """A chat of a storm."""

    fake: Fake
    chat: Any
    key: str
    ask: Callable[[str], object]
    asked: list[str] = field(default_factory=list)


@dataclass
class StormResult:
    """Counts of a storm."""

    questions: int = 0
    kills: int = 0
    kills_between: int = 0
    unanswered: list[str] = field(default_factory=list)
    answered_twice: list[str] = field(default_factory=list)
    misplaced: list[str] = field(default_factory=list)
    """Sessions whose dialog is not what was asked in the chat, each question with its answer."""
    orphans: Counter[str] = field(default_factory=Counter)
    """Placeholders without an answer, by service."""


class Storm:
    """One storm over the chats of a bot."""

    def __init__(self, talk: Conversations, bot: BotProcess, chats: Sequence[StormChat], seed: int) -> None:
        self._talk = talk
        self._bot = bot
        self._chats = chats
        self._chance = random.Random(seed)
        self._result = StormResult()

    def run(
        self, questions: int, kills: int, points: Sequence[str], *, targeted: float = 0.5, survived: int = 2,
        patience: float = 60.0,
    ) -> StormResult:  # fmt: skip
        """Ask and kill: some kills come at one of the points, after some calls of it, the others at any time."""
        self._greet(patience)
        for kill in range(kills):
            point = points[kill % len(points)] if points and self._chance.random() < targeted else None
            self._start(point, survived)
            for _ in range(max(1, questions // kills)):
                self._ask()
                time.sleep(self._chance.random() * 0.2)
            self._kill(point, FATAL_SECONDS if survived else CERTAIN_SECONDS)
        while self._result.questions < questions:
            self._ask()
        self._bot.start()
        try:
            self._settle(patience)
        finally:
            self._bot.close()
        return self._count()

    def _greet(self, patience: float) -> None:
        """Let each chat ask once: Discord does not list who has written to a bot for the first time."""
        self._bot.start()
        self._bot.wait_ready(len({chat.fake.name for chat in self._chats}))
        for chat in self._chats:
            self._ask(chat)
        self._settle(patience)
        self._bot.end(signal.SIGKILL)

    def _start(self, point: str | None, survived: int) -> None:
        chosen = (
            {} if point is None else {"FATAL_STEP": point, "FATAL_COUNT": str(self._chance.randrange(survived + 1))}
        )
        self._bot.start(**chosen)

    def _ask(self, chat: StormChat | None = None) -> None:
        chat = chat or self._chance.choice(self._chats)
        text = f"q{self._result.questions} " + "x " * self._chance.randrange(8)
        self._result.questions += 1
        chat.asked.append(text.strip())
        chat.ask(text.strip())

    def _kill(self, point: str | None, seconds: float) -> None:
        process = self._bot.process
        assert process is not None
        try:
            process.wait(self._chance.random() * 1.5 if point is None else seconds)
            self._result.kills_between += point in BETWEEN
        except subprocess.TimeoutExpired:
            self._bot.end(signal.SIGKILL)
        self._result.kills += 1

    def _settle(self, patience: float) -> None:
        ends_at = time.monotonic() + patience
        while time.monotonic() < ends_at and (self._talk.open() or any(map(unanswered, self._chats))):
            time.sleep(0.05)

    def _count(self) -> StormResult:
        result = self._result
        for chat in self._chats:
            texts = chat.fake.texts(chat.chat)
            said = Counter(word for text in texts for word in text.split() if word[0] == "q")
            result.unanswered += unanswered(chat)
            result.answered_twice += [word for word, count in said.items() if count > 1]
            result.orphans[chat.fake.name] += texts.count(PLACEHOLDER)
            if not self._is_in_place(chat):
                result.misplaced.append(chat.key)
        return result

    def _is_in_place(self, chat: StormChat) -> bool:
        path = self._talk.path(chat.key)
        if [node.role for node in path] != ["user", "assistant"] * (len(path) // 2):
            return False
        for question, answer in zip(path[::2], path[1::2], strict=True):
            if answer.message.text.split() != ["echo", "of", *question.message.text.split()]:
                return False
        said = [word for node in path[::2] for word in node.message.text.split() if word[0] == "q"]
        return said == [text.split()[0] for text in chat.asked]


def unanswered(chat: StormChat) -> list[str]:
    """The questions that no message of the bot repeats."""
    found = set(" ".join(chat.fake.texts(chat.chat)).split())
    return [name for text in chat.asked if (name := text.split()[0]) not in found]
