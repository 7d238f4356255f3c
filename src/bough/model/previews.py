"""Sessions and parts of trees as lists show them: a few words and counts, without the messages."""

from __future__ import annotations

from bough.model.nodes import Headline, SessionInfo, Status
from bough.model.usage import Usage
from bough.model.values import value


@value
class SessionPreview:
    """A row of a list of sessions."""

    info: SessionInfo
    question: Headline | None = None
    """The first question of the dialog; None if there is none."""
    last: Headline | None = None
    """The last message of the dialog."""
    messages: int = 0
    """The number of messages of the dialog."""
    turns: int = 0
    """The number of turns of the dialog."""
    branches: int = 0
    """The number of ends that the tree of the dialog has; 1 if it never branched."""
    delegates: int = 0
    """The number of sessions that work for this one."""
    usage: Usage = Usage()
    """Of all its turns, also those that it left; without its summaries and its delegates."""
    status: Status | None = None
    """How its newest turn ended; None without one."""
    model: str | None = None
    """The model of its newest turn, else that of the session."""

    @property
    def title(self) -> str:
        """The title; without one, the first question, or the last words; empty for an empty session."""
        shown = self.info.title or (self.question and self.question.words) or (self.last and self.last.words)
        return shown or ""
