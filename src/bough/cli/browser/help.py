"""Style, hints and help of the browser."""

from __future__ import annotations

from rich.text import Text

STYLE = """
Screen { background: $surface; }
#search { border: none; height: 1; padding: 0 1; background: $panel; }
#panes { height: 1fr; }
LinesView { border: round $panel-lighten-2; scrollbar-size-vertical: 1; overflow-x: hidden; background: $surface; }
LinesView:focus { border: round $accent; }
#conversations { width: 1fr; }
#right { width: 2fr; layout: vertical; }
#tree { height: 2fr; width: 1fr; }
#dialog { height: 3fr; width: 1fr; }
.-wide #right { width: 5fr; layout: horizontal; }
.-wide #conversations { width: 2fr; }
.-wide #tree { height: 1fr; width: 2fr; }
.-wide #dialog { height: 1fr; width: 3fr; }
.-narrow #conversations, .-narrow #right, .-narrow #tree, .-narrow #dialog { display: none; }
.-narrow #conversations.active, .-narrow #right.active, .-narrow #tree.active, .-narrow #dialog.active {
    display: block; width: 1fr; height: 1fr;
}
#hints { height: 1; padding: 0 1; color: $text-muted; }
ModalScreen { align: center middle; background: $background 60%; }
.prompt { width: 80%; max-width: 90; height: auto; padding: 1 2; border: round $accent; background: $surface; }
.page { width: 96%; height: 92%; padding: 0 1; border: round $accent; background: $surface; }
.page LinesView { border: none; height: 1fr; }
"""

HINTS = {
    "conversations": "Enter open · / search · s scope · → tree · r rename · p pin · d delete · u undo · n new · ? keys",
    "tree": "Enter continue here · f fork · e edit · a answer again · = compare · # label · y copy · x export · ? keys",
    "dialog": "↑↓ scroll · space thinking and tools · Enter continue here · y copy · Y code · x export · ? keys",
}
"""The line at the bottom, by pane."""

KEYS = (
    ("Move", (("↑ ↓ · k j", "one row"), ("PageUp PageDown · Ctrl+B Ctrl+F", "a screen"),
              ("g G · Home End", "first, last"),
              ("→ l Tab", "unfold, or the next pane"), ("← h Shift+Tab", "the pane before"), ("Esc", "back"))),
    ("Find", (("/", "search titles and messages as you type"),
              ("s", "list all, this directory, pinned, or one program's conversations"),
              ("m", "in the tree: everything, questions, labelled messages"),
              ("space", "fold and unfold; in the dialog, thinking and tools"))),
    ("Talk", (("Enter", "open the conversation; in the tree, continue from that message"), ("c", "continue here"),
              ("f", "fork here"), ("e", "edit this question, and ask it as another branch"),
              ("a", "answer again"), ("A", "answer again with another model"), ("n", "a new conversation"))),
    ("Change", (("r", "rename"), ("#", "label"), ("p", "pin"), ("d", "delete; into the trash"), ("u", "undo"))),
    ("Read", (("=", "mark, then compare side by side"), ("y", "copy the message"), ("Y", "copy its code"),
              ("x", "export"), ("o", "open the page in a web browser"), ("q", "end"))),
)  # fmt: skip


def help_lines() -> list[Text]:
    """All keys."""
    lines = []
    for title, keys in KEYS:
        lines += [Text(""), Text(title, "bold")]
        lines += [Text.assemble((f"  {key:<32} ", "cyan"), what) for key, what in keys]
    return lines
