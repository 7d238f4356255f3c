"""The browser of conversations and branches, which `bough` alone opens on a terminal.

Textual is imported when it opens. It ends with a `Picked`: what to do next, where; `cli/ask/follow.py` does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.cli.browser.picked import Picked as Picked

if TYPE_CHECKING:
    from bough.store import Store


def browse(store: Store, directory: str, *, title: str = "bough", at: str | None = None) -> Picked | None:
    """Open the browser; what the user chose, or None. `at` is the message that is shown first."""
    from bough.cli.browser.app import Browser

    return Browser(store, directory, title=title, at=at).run()


def can_browse() -> bool:
    """Whether stdin and stdout are a terminal that a full screen can be drawn on, and Textual is installed."""
    import sys
    from importlib.util import find_spec

    from bough.cli.output.console import supports_escapes

    return sys.stdin.isatty() and supports_escapes(sys.stdout) and find_spec("textual") is not None
