"""Tool calls as people read them: a command, a path, a change as a difference, and the raw arguments folded below."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from html import escape
from typing import Any

from bough.exporters.headings import displayable, pretty_json
from bough.exporters.html.prose import code

MOST = 200_000
"""Characters of arguments that are looked at; larger ones are shown as they are."""
SUBJECTS = (
    "command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "description",
    "task", "prompt", "skill", "name",
)  # fmt: skip
"""Arguments that say what a call is about, the best one first."""
EDITS = (("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText"), ("search", "replace"))
"""Names of the arguments of editing tools: the text before, and the text after."""
COMMANDS = ("command", "cmd", "script")
CONTENTS = ("content", "file_text", "contents")
PATCHES = ("patch", "diff", "input")
MARKS = {"+": "gi", "-": "gd", "@": "gu"}
LANGUAGES = {"py": "python", "js": "javascript", "ts": "typescript", "rs": "rust", "rb": "ruby", "md": "markdown",
             "sh": "bash", "yml": "yaml"}  # fmt: skip


def call_summary(arguments: str) -> str:
    """The arguments in one line: what the call is about, else the arguments themselves."""
    given = _arguments(arguments)
    if given is None:
        return arguments
    if isinstance(todos := given.get("todos"), list):
        states = [one.get("status") for one in todos if isinstance(one, dict)]
        return f"{states.count('completed')} of {len(todos)} done"
    for name in SUBJECTS:
        if isinstance(found := given.get(name), (str, list)) and found:
            return found if isinstance(found, str) else " ".join(map(str, found))
    return arguments


def call_details(arguments: str) -> str:
    """The arguments as HTML: what can be shown better than JSON, and the JSON."""
    raw = code(pretty_json(arguments), "json")
    given = _arguments(arguments)
    shown = "" if given is None else "".join(_shown(given))
    return f'{shown}<details class="raw"><summary>Arguments</summary>{raw}</details>' if shown else raw


def difference(before: str, after: str) -> str:
    """The difference of two texts, as lines that were removed and added."""
    old, new = displayable(before).splitlines(), displayable(after).splitlines()
    return _marked(list(unified_diff(old, new, lineterm="", n=3))[2:])


def _arguments(arguments: str) -> dict[str, Any] | None:
    if len(arguments) > MOST:
        return None
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _shown(given: dict[str, Any]) -> Iterator[str]:
    for name in COMMANDS:
        if isinstance(command := given.get(name), str):
            yield code(command, "bash")
    edits = given.get("edits")
    for edit in (given, *(edits if isinstance(edits, list) else ())):
        yield from _edit(edit)
    for name in CONTENTS:
        if isinstance(content := given.get(name), str):
            yield code(content, _language(str(given.get("file_path") or given.get("path") or "")))
    for name in PATCHES:
        if isinstance(patch := given.get(name), str) and ("\n+" in patch or "\n-" in patch):
            yield _marked(displayable(patch).splitlines())


def _edit(edit: Any) -> Iterator[str]:
    if not isinstance(edit, dict):
        return
    for before, after in EDITS:
        if isinstance(old := edit.get(before), str) and isinstance(new := edit.get(after), str):
            yield difference(old, new)


def _marked(lines: Iterable[str]) -> str:
    marked = (f'<span class="{MARKS[line[0]]}">{escape(line)}</span>' if line[:1] in MARKS else escape(line)
              for line in lines)  # fmt: skip
    joined = "\n".join(marked)
    return f'<pre class="code diff" dir="ltr" tabindex="0"><code>{joined}</code></pre>'


def _language(path: str) -> str:
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    return LANGUAGES.get(ending, ending)
