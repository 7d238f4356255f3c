"""Resources and prompts: conversations by address, and packs of history for a purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from bough.errors import Invalid, NotFound
from bough.model.values import value

if TYPE_CHECKING:
    from bough.server.mcp.history import History

SCHEME = "bough://"
BUDGET = 4000
HELP = """bough keeps conversations of all AI programs as trees; every message and branch has an id.
1. search(q) finds messages; each line begins with an id. 2. read(id) shows the conversation around it; the last line
says what was left out and how to read it. 3. tree(id) shows its branches, compare(a, b) two of them.
Operators of q: "phrase" -word word* role:user|assistant|tool_result source:claude-code project:NAME tool:NAME
model:NAME label:TEXT in:SESSION before:2026-08-01 after:7d has:error|image|file|tool|branch is:failed|interrupted.
Resources: bough://m/MESSAGE, bough://c/SESSION (percent-encoded), bough://t/ID (the tree)."""
TEMPLATES = {"m": ("message", "A conversation around a message."), "c": ("session", "The end of a session."),
             "t": ("tree", "The tree of a message or session.")}  # fmt: skip


@value
class HistoryPrompt:
    """One prompt, as it is declared."""

    name: str
    about: str
    argument: str
    task: str


PROMPTS = (
    HistoryPrompt("recall", "What was said and decided about a topic before.", "topic",
        "Use the history below, and read more of it with the tools where it is cut. Say what was tried, what was "
        "decided and why, and cite the ids of messages. Say so if the history does not answer it. Topic: "),
    HistoryPrompt("handoff", "Continue another session's work here.", "session",
        "Below is the end of another session. Summarise for somebody who takes over: goal, state, decisions, open "
        "points, next step, with the ids of messages. Session: "),
    HistoryPrompt("postmortem", "What went wrong in a session, and why.", "session",
        "Below is a session and its branches. Find where it went wrong, which attempts were abandoned and why, and "
        "what to do differently; cite the ids of messages. Session: "),
)  # fmt: skip


def read(history: History, uri: str) -> str:
    """The text of a resource. Raises `NotFound`."""
    if uri == f"{SCHEME}help":
        return HELP
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or kind not in TEMPLATES or not name:
        raise NotFound(f"There is no resource {uri!r:.100}; there are bough://m/ID, bough://c/KEY, bough://t/ID.")
    name = unquote(name)
    return history.tree(name) if kind == "t" else history.read(name, budget=BUDGET, parts="tools")


def prompt(history: History, name: str, given: dict[str, str]) -> str:
    """The text of a prompt, with history within a budget. Raises `Invalid` and `NotFound`."""
    made = next((one for one in PROMPTS if one.name == name), None)
    if made is None:
        raise NotFound(f"There is no prompt {name!r:.60}; there are {', '.join(one.name for one in PROMPTS)}.")
    about = given.get(made.argument, "").strip()
    if not about:
        raise Invalid(f"The prompt {name} needs {made.argument}.")
    if made.argument == "topic":
        pack = history.search(about, limit=12, best=True)
    elif name == "handoff":
        pack = history.read(about, budget=BUDGET, parts="tools")
    else:
        pack = f"{history.tree(about)}\n{history.read(about, budget=BUDGET, parts='tools')}"
    return f"{made.task}{about}\n\n{pack}"
