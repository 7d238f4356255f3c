"""Every key that `config.toml` may have: its type, its default, and what it is for.

This table is the authority: `load` checks against it, `bough config` shows it, and docs/configuration.md is printed
from it. A `*` stands for a name that the user chooses.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from bough.model.values import value

Kind: TypeAlias = Literal["text", "path", "integer", "number", "boolean", "list", "table"]


@value
class Key:
    """One thing that can be configured."""

    name: str
    kind: Kind
    about: str
    default: Any = None
    variable: str | None = None
    """The environment variable that has precedence over the file."""
    secret: bool = False
    """Never shown, only that it is there."""
    choices: tuple[str, ...] = ()


KEYS = (
    Key("db.path", "path", "Where conversations are kept: a file, or a `postgresql://` URL.", variable="BOUGH_DB"),
    Key("db.namespace", "text", "Whose conversations, on a PostgreSQL server that keeps those of several; "
        "`?namespace=…` in the URL says the same.", variable="BOUGH_NAMESPACE"),
    Key("run.model", "text", "Who answers: `openai:NAME`, `anthropic:NAME`, `PROVIDER:NAME`, `local`, `local:PATH`, "
        "`scripted:FILE`. Without it: the provider whose API key is in the environment, else `local`.",
        variable="BOUGH_MODEL"),
    Key("run.agent", "text", "The agent of `[agents.NAME]` that answers when `-a` names none."),
    Key("run.system", "text", "The system prompt."),
    Key("run.max_tokens", "integer", "How long a reply may get, in tokens."),
    Key("run.max_steps", "integer", "How many times the model may be asked in one turn, tools included.", 20),
    Key("run.timeout", "number", "How many seconds one turn may take."),
    Key("run.budget", "integer", "How many tokens of the dialog a request may hold; else the model's window."),
    Key("run.tools", "list", "The MCP servers, or `SERVER.TOOL`s, that the model may use; without it, all of them."),
    Key("run.agents", "list", "The agents of `[agents.NAME]` that the model may hand tasks to; without it, none."),
    Key("run.options", "table", "Goes into every request as it is: `temperature` and the like."),
    Key("conversation.max_age_days", "integer", "How old a session gets before `conversations clean` offers it.", 30),
    Key("conversation.max_messages", "integer", "A session with more messages than this is compacted before a turn."),
    Key("conversation.compact_at", "number", "A session is compacted before its dialog takes more than this: a share "
        "of the model's window, as 0.8, or so many tokens. Without it, nothing is compacted by itself."),
    Key("conversation.keep_turns", "integer", "How many of the newest turns a compaction leaves as they are.", 5),
    Key("agents.*.model", "text", "Who answers, as `run.model`."),
    Key("agents.*.system", "text", "The agent's system prompt."),
    Key("agents.*.description", "text", "What the agent is for: a caller over MCP reads it."),
    Key("agents.*.tools", "list", "As `run.tools`."),
    Key("agents.*.agents", "list", "The agents that this one may hand tasks to."),
    Key("agents.*.max_tokens", "integer", "As `run.max_tokens`."),
    Key("agents.*.max_steps", "integer", "As `run.max_steps`."),
    Key("agents.*.timeout", "number", "As `run.timeout`."),
    Key("agents.*.options", "table", "As `run.options`."),
    Key("providers.*.type", "text", "What it speaks.", choices=("openai", "openai.responses", "anthropic")),
    Key("providers.*.base_url", "text", "Its address, up to and including the version: `https://host/v1`."),
    Key("providers.*.api_key", "text", "Its key. Better: name the variable that holds it.", secret=True),
    Key("providers.*.api_key_env", "text", "The environment variable that holds its key."),
    Key("providers.*.model", "text", "The model when only the provider is named."),
    Key("providers.*.window", "integer", "How many tokens its context holds."),
    Key("providers.*.timeout", "number", "How many seconds it may be silent."),
    Key("providers.*.threads", "integer", "How many threads the embedded model uses; 1 is best on a busy machine."),
    Key("providers.*.headers", "table", "Further headers of every request.", secret=True),
    Key("providers.*.options", "table", "Goes into every request to it as it is."),
    Key("mcp.*.command", "list", "The server's program and its arguments, spoken to over stdio."),
    Key("mcp.*.env", "table", "Environment variables of that program; `$NAME` takes one of yours.", secret=True),
    Key("mcp.*.cwd", "path", "The directory where that program runs."),
    Key("mcp.*.url", "text", "The address of a server that speaks HTTP instead."),
    Key("mcp.*.headers", "table", "Headers for that address; `$NAME` takes a variable of yours.", secret=True),
    Key("mcp.*.timeout", "number", "How many seconds a tool may take."),
)  # fmt: skip

BY_NAME = {key.name: key for key in KEYS}
SECTIONS = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS))
NAMED = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS if ".*." in key.name))


def find_key(name: str) -> Key | None:
    """The key that a dotted name means: `agents.reviewer.model` is `agents.*.model`."""
    section, _, rest = name.partition(".")
    if section in NAMED:
        chosen, dot, last = rest.rpartition(".")
        return BY_NAME.get(f"{section}.*.{last}") if chosen and dot else None
    return BY_NAME.get(name)


def suggestion(name: str) -> str:
    """`Did you mean …?`, for a key that does not exist; empty when nothing is near."""
    from difflib import get_close_matches

    section, _, rest = name.partition(".")
    if section in NAMED and "." in rest:
        chosen, _, last = rest.rpartition(".")
        known = [key.name.rpartition(".")[2] for key in KEYS if key.name.startswith(f"{section}.*.")]
        near = [f"{section}.{chosen}.{one}" for one in get_close_matches(last, known, 1)]
    else:
        near = get_close_matches(name, [*BY_NAME, *SECTIONS], 1) or _same_ending(name)
    return f" Did you mean {near[0]!r}?" if near else ""


def _same_ending(name: str) -> list[str]:
    """A key that was put into the wrong table: `model` or `db.model` for `run.model`."""
    last = name.rpartition(".")[2]
    return [known for known in BY_NAME if known.rpartition(".")[2] == last and "*" not in known]
