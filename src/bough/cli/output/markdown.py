"""Markdown rendered on a terminal while it is streamed: word by word, without redrawing.

Emphasised text is held back until its closing mark, at most to the end of the line; an unclosed mark is written
verbatim. Code is highlighted as its lines complete, without its fences; a table is drawn when it is complete. Lines
are wrapped between words. All input passes `sanitize` first, so no escape sequence gets through.
"""

from __future__ import annotations

import re

from bough.cli.output.console import without_escapes
from bough.cli.output.grid import grid
from bough.cli.output.highlight import CodeHighlighter
from bough.cli.output.text import sanitize, width

BOLD, ITALIC, CODE, DIM, LINK = ("1", "22"), ("3", "23"), ("36", "39"), ("2", "22"), ("4", "24")
SPANS = (
    (re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)"), 2, CODE),
    (re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\*)"), 1, BOLD),
    (re.compile(r"\*(?=[^\s*])([^*]+?)(?<=\S)\*(?!\*)"), 1, ITALIC),
)
LINKED = re.compile(r"\[([^\]\n]+)\]\(((?:https?://|mailto:)[^\s()]+(?:\([^\s()]*\)[^\s()]*)*)\)")
MAYBE_LINKED = re.compile(r"\[[^\]\n]*(\](\(\S*)?)?")
"""The start of a link that is not whole yet."""
MAX_SPAN = 300
"""Characters that are held back for a closing mark."""
BLOCK = re.compile(
    r"(?P<indent> *)(?:(?P<heading>#{1,6}) +|(?P<bullet>[-*+]) +|(?P<number>\d{1,3}[.)]) +|(?P<quote>>) ?)"
)
UNDECIDED = re.compile(r" *(#{0,6} *|[-*+] ?|[-*_ ]+|\d{1,3}[.)]? *|> ?|`+[^`]*|~+.*|\|.*)?")
"""The start of a line that may still become a heading, an item, a rule, a table or a fence."""
FENCE = re.compile(r" *(`{3,}|~{3,})[^`]*")
RULE = re.compile(r" *([-*_])( *\1){2,} *")


class MarkdownRenderer:
    """Renders Markdown incrementally: `feed` takes text as it arrives and returns the terminal output."""

    def __init__(self, columns: int, *, inline: bool = False) -> None:
        """With `inline` the text has no blocks, as in a cell of a table."""
        self._columns = columns if inline else max(20, columns)
        self._pending = ""
        self._out: list[str] = []
        self._at_start = not inline
        self._fence: str | None = None
        self._code = CodeHighlighter("")
        self._table: list[str] = []
        self._unseen = False
        """Whether the present line is not written, as a fence is not."""
        self._heading = False
        self._column = self._indent = 0
        self._space = self._before = self._carriage = ""

    def feed(self, text: str) -> str:
        """Add text; returns the output that is already certain."""
        text = self._carriage + text
        self._carriage = "\r" if text.endswith("\r") else ""  # may be half of a \r\n
        self._pending += sanitize(text.removesuffix("\r"))
        while "\n" in self._pending:
            line, _, self._pending = self._pending.partition("\n")
            self._line(line, whole=True)
            self._new_line()
        if self._pending:
            self._pending = self._line(self._pending, whole=False)
        return self._taken()

    def end(self) -> str:
        """Finish the document; returns the remaining output, which ends with a newline."""
        if self._pending or not self._at_start or self._column:
            self._line(self._pending, whole=True)
            self._new_line()
        self._draw_table()
        self._pending, self._fence = "", None
        return self._taken()

    def _line(self, line: str, *, whole: bool) -> str:
        """Render a line, or the part of it that is certain; returns the rest."""
        if self._at_start:
            if not whole and (UNDECIDED.fullmatch(line) or self._fence):
                return line
            if self._is_block(line):
                return ""
            line = self._begin(line)
        return self._words(line, whole)

    def _is_block(self, line: str) -> bool:
        """Render a line of code, a fence, a rule or a table row; False for any other line."""
        if self._fence:
            closes = FENCE.fullmatch(line) and line.strip().startswith(self._fence) and not line.strip(" `~")
            self._fence, self._unseen = (None, True) if closes else (self._fence, False)
            if not closes:
                self._out.append(self._code.line(line))
            return True
        if line.lstrip().startswith("|"):
            self._table.append(line)
            self._unseen = True
            return True
        self._draw_table()
        if fence := FENCE.fullmatch(line):
            self._fence, self._unseen = fence[1], True
            self._code = CodeHighlighter(line.strip(" `~").split(" ")[0].strip("{}.").lower())
        elif RULE.fullmatch(line):
            self._raw("─" * min(self._columns, 40), DIM)
        else:
            return False
        return True

    def _draw_table(self) -> None:
        """Write the table whose rows have come."""
        lines, self._table = self._table, []
        if lines:
            self._out.extend(f"{line}\n" for line in grid(lines, self._columns, rendered_lines, without_escapes))

    def _begin(self, line: str) -> str:
        """Render the block marker of a line and set the indentation of wrapped lines; returns the rest of the line."""
        self._at_start = False
        found = BLOCK.match(line)
        if not found:
            self._indent = len(line) - len(line.lstrip(" "))
            self._raw(" " * self._indent, None)
            return line[self._indent :]
        mark = "• " if found["bullet"] else f"{found['number']} " if found["number"] else "│ " if found["quote"] else ""
        self._heading = bool(found["heading"])
        self._raw(found["indent"], None)
        self._raw(mark, DIM if found["quote"] else None)
        self._indent = self._column
        if self._heading:
            self._out.append(on(BOLD))
        return line[found.end() :]

    def _words(self, text: str, whole: bool) -> str:
        """Render words and spans; returns the text that is held back."""
        place = 0
        while place < len(text):
            mark = re.compile(r"[`*\[]").search(text, place)
            if mark is None:
                return self._plain(text[place:], whole)
            self._plain(text[place : mark.start()], True)
            place = mark.start()
            self._before = text[place - 1] if place else self._before
            if text[place] == "[":
                linked = LINKED.match(text, place)
                if (
                    linked is None
                    and not whole
                    and MAYBE_LINKED.fullmatch(text, place)
                    and len(text) - place < MAX_SPAN
                ):
                    return text[place:]
                place = self._write_link(linked) if linked else self._write_bracket(place)
                continue
            span = self._span(text, place)
            if span is None and not whole and len(text) - place < MAX_SPAN:
                return text[place:]
            if span is not None and span == len(text) and not whole:
                return text[place:]  # another mark may follow: ** instead of *
            place = self._write_span(text, place, span)
        return ""

    def _write_link(self, found: re.Match[str]) -> int:
        """Write a link (OSC 8); a terminal that does not know it shows its text."""
        self._break_before(found[1])
        self._out.append(f"\x1b]8;;{found[2]}\x1b\\{on(LINK)}")
        self._wrapped(found[1])
        self._out.append(f"{off(LINK)}\x1b]8;;\x1b\\")
        self._before = ")"
        return found.end()

    def _write_bracket(self, place: int) -> int:
        self._wrapped("[")
        self._before = "["
        return place + 1

    def _span(self, text: str, place: int) -> int | None:
        """The end of the span that starts at `place`; None if there is none."""
        before = text[place - 1] if place else self._before
        follows_word = before.isalnum() and text[place] == "*"
        found = next((m for pattern, _, _ in SPANS if (m := pattern.match(text, place))), None)
        return found.end() if found and not follows_word else None

    def _write_span(self, text: str, place: int, end: int | None) -> int:
        if end is None:
            marks = re.compile(r"[`*]+").match(text, place)
            assert marks is not None
            self._wrapped(marks[0])
            self._before = marks[0][-1]
            return marks.end()
        for pattern, group, style in SPANS:
            if found := pattern.match(text, place):
                self._styled(found[group], style)
                break
        self._before = text[end - 1]
        return end

    def _styled(self, text: str, style: tuple[str, str]) -> None:
        if style == BOLD and self._heading:
            self._wrapped(text)
            return
        self._break_before(text)
        self._out.append(on(style))
        inner = SPANS[0][0].split(text) if style != CODE else [text]
        for number, part in enumerate(inner):
            if number % 3 == 2:
                self._styled(part, CODE)
            elif number % 3 == 0:
                self._wrapped(part)
        self._out.append(off(style))

    def _plain(self, text: str, whole: bool) -> str:
        """Render whole words; returns the last word if it may continue."""
        end = len(text) if whole else max(text.rfind(" "), text.rfind("\t")) + 1
        self._wrapped(text[:end])
        self._before = text[end - 1] if end else self._before
        return text[end:]

    def _wrapped(self, text: str) -> None:
        for word in re.findall(r"\s+|\S+", text):
            if word.isspace():
                self._space += word
                continue
            self._break_before(word)
            self._out.append(word)
            self._column += width(word)

    def _break_before(self, text: str) -> None:
        """Write the space before a word, or a line break if the word does not fit."""
        first = (text.split() or [""])[0]
        if (
            self._space
            and self._column + len(self._space) + width(first) > self._columns
            and self._column > self._indent
        ):
            self._out.append("\n" + " " * self._indent)
            self._column = self._indent
        else:
            self._out.append(self._space)
            self._column += len(self._space)
        self._space = ""

    def _raw(self, text: str, style: tuple[str, str] | None) -> None:
        self._out.append(f"{on(style)}{text}{off(style)}" if style and text else text)
        self._column += width(text)

    def _new_line(self) -> None:
        if self._heading:
            self._out.append(off(BOLD))
        if not self._unseen:
            self._out.append("\n")
        self._unseen = False
        self._at_start, self._heading, self._space, self._before = True, False, "", ""
        self._column = self._indent = 0

    def _taken(self) -> str:
        taken, self._out = "".join(self._out), []
        return taken


def on(style: tuple[str, str]) -> str:
    return f"\x1b[{style[0]}m"


def off(style: tuple[str, str]) -> str:
    return f"\x1b[{style[1]}m"


def rendered_lines(text: str, columns: int) -> list[str]:
    """A text without blocks, as the cell of a table, in lines."""
    renderer = MarkdownRenderer(columns, inline=True)
    return (renderer.feed(text) + renderer.end()).rstrip("\n").split("\n")
