"""Code in colours for a terminal, line by line as it arrives. Pygments is imported when a language is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CONTEXT = 120
"""Lines before the present one that decide what it is: the middle of a string, of a comment."""
PLAIN = "36"
"""The colour of code in no known language."""
COLOURS = {
    "Comment": "2",
    "Keyword": "35",
    "Literal.String": "32",
    "Literal.Number": "36",
    "Name.Function": "34",
    "Name.Class": "34",
    "Name.Decorator": "33",
    "Name.Builtin": "36",
    "Name.Tag": "34",
    "Name.Attribute": "33",
    "Operator.Word": "35",
    "Generic.Deleted": "31",
    "Generic.Inserted": "32",
    "Generic.Heading": "1",
    "Generic.Subheading": "36",
}
"""The codes of kinds of tokens, and of the kinds below them."""


class CodeHighlighter:
    """Colours the lines of one block of code, one after the other."""

    def __init__(self, language: str) -> None:
        self._lexer = find_lexer(language)
        self._before: list[str] = []

    def line(self, line: str) -> str:
        """A line in colours."""
        if not line:
            self._before.append(line)
            return ""
        if self._lexer is None:
            return f"\x1b[{PLAIN}m{line}\x1b[39m"
        text = "\n".join([*self._before, line])
        self._before = [*self._before, line][-CONTEXT:]
        start, made, place = len(text) - len(line), "", 0
        for kind, piece in self._lexer.get_tokens(text):
            shown = piece[max(start - place, 0) :].strip("\n") if place + len(piece) > start else ""
            place += len(piece)
            code = colour_of(kind) if shown.strip() else None
            made += f"\x1b[{code}m{shown}\x1b[{'22' if code in ('1', '2') else '39'}m" if code else shown
        return made


def find_lexer(language: str) -> Lexer | None:
    """Pygments' lexer of a language; None for an unknown one."""
    if not language:
        return None
    try:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ImportError:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def colour_of(kind: Any) -> str | None:
    """The code of a kind of token, or of the nearest kind above it that has one."""
    while kind:
        if (name := str(kind).removeprefix("Token.")) in COLOURS:
            return COLOURS[name]
        kind = kind.parent
    return None
