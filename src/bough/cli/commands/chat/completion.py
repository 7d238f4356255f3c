"""Tab completion in a chat: commands and their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.completion import Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from bough.cli.commands.chat.slash import COMMANDS
from bough.cli.output.text import one_line, truncate
from bough.cli.output.titles import listed_title

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent

    from bough.cli.commands.chat.loop import ChatLoop

MOST = 30


class ChatCompleter(Completer):
    """Completes commands, ids and sessions, agents and files."""

    def __init__(self, loop: ChatLoop) -> None:
        self._loop = loop
        self._files = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Completions of the word before the cursor."""
        line = document.text_before_cursor
        if not line.startswith("/"):
            return
        name, space, typed = line.partition(" ")
        if not space:
            yield from matching(name, ((one.name, one.help) for one in COMMANDS.values()))
        elif name in ("/export", "/attach"):
            yield from self._files.get_completions(Document(typed, len(typed)), complete_event)
        else:
            yield from matching(typed, self._known(name))

    def _known(self, name: str) -> Iterable[tuple[str, str]]:
        loop = self._loop
        match name:
            case "/fork" | "/rewind" | "/tree" | "/edit" | "/regen" | "/copy":
                return [(node.id, node.message.text) for node in reversed(loop.session.path(last=MOST))]
            case "/resume" | "/sessions":
                shown = loop.store.previews(loop.store.sessions(delegates=False, limit=MOST))
                return [(one.info.key, listed_title(one)) for one in shown]
            case "/retry":
                return [(turn.id, turn.status) for turn in loop.session.unfinished[:MOST]]
            case "/agent":
                return [(name, "") for name in loop.config.names("agents")]
            case "/model":
                return [(f"{name}:", "") for name in loop.config.names("providers")] + [("local", "the embedded model")]
        return []


def matching(typed: str, known: Iterable[tuple[str, str]]) -> Iterator[Completion]:
    """The known names that start with the typed text."""
    for name, about in known:
        if name.startswith(typed):
            yield Completion(name, -len(typed), display_meta=truncate(one_line(about), 50))
