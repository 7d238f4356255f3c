"""Table of the keys of `config.toml`: type, default, and description.

`load` checks against this table, and `bough config` and docs/configuration.md are generated from it. A `*` stands for a
name that the user chooses.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from bough.model.values import value

Kind: TypeAlias = Literal["text", "path", "integer", "number", "boolean", "list", "table"]


@value
class ConfigKey:
    """A configuration key."""

    name: str
    kind: Kind
    about: str
    default: Any = None
    variable: str | None = None
    """The environment variable that takes precedence over the file."""
    secret: bool = False
    """Whether the value is hidden in all output."""
    choices: tuple[str, ...] = ()


KEYS = (
    ConfigKey("db.path", "path", "The store: a file, or a `postgresql://` URL.", variable="BOUGH_DB"),
    ConfigKey("db.namespace", "text", "The namespace on a PostgreSQL server that several users share; "
        "equal to `?namespace=…` in the URL.", variable="BOUGH_NAMESPACE"),
    ConfigKey("run.model", "text",
        "The model: `openai:NAME`, `anthropic:NAME`, `PROVIDER:NAME`, `local`, `local:PATH`, "
        "`scripted:FILE`. Default: the provider whose API key is in the environment, else `local`.",
        variable="BOUGH_MODEL"),
    ConfigKey("run.agent", "text", "The agent of `[agents.NAME]` to use without `-a`."),
    ConfigKey("run.system", "text", "The system prompt."),
    ConfigKey("run.max_tokens", "integer", "Longest reply, in tokens."),
    ConfigKey("run.max_steps", "integer", "Most requests to the model in one turn.", 20),
    ConfigKey("run.timeout", "number", "Longest duration of a turn, in seconds."),
    ConfigKey("run.budget", "integer", "Most tokens of dialog in a request. Default: the model's context window."),
    ConfigKey("run.tools", "list", "The MCP servers, or `SERVER.TOOL`s, that the model may use. Default: all."),
    ConfigKey("run.agents", "list",
        "The agents of `[agents.NAME]` that the model may delegate tasks to. Default: none."),
    ConfigKey("run.options", "table", "Added to every request unchanged: `temperature` and the like."),
    ConfigKey("run.notify_after", "number", "Seconds after which the end of an answer rings the terminal's bell and "
        "shows a notification.", 30.0),
    ConfigKey("conversation.max_age_days", "integer",
        "Age at which `conversations clean` lists a session, in days.", 30),
    ConfigKey("conversation.max_messages", "integer",
        "Number of messages above which a session is compacted before a turn."),
    ConfigKey("conversation.compact_at", "number", "Size of the dialog above which a session is compacted before a "
        "turn: a fraction of the model's context window, as 0.8, or a number of tokens. Default: never."),
    ConfigKey("conversation.keep_turns", "integer", "Maximum number of newest turns that a compaction keeps. "
        "Default: as many as fit in half of the limit."),
    ConfigKey("privacy.redact", "boolean", "Replace keys, tokens, private keys and passwords in messages by "
        "`[redacted: KIND]` before they are stored; the kinds that were replaced are reported on stderr.", False),
    ConfigKey("agents.*.model", "text", "As `run.model`."),
    ConfigKey("agents.*.system", "text", "As `run.system`."),
    ConfigKey("agents.*.description", "text", "Purpose of the agent, shown to callers, also over MCP."),
    ConfigKey("agents.*.tools", "list", "As `run.tools`."),
    ConfigKey("agents.*.agents", "list", "The agents that this one may delegate tasks to."),
    ConfigKey("agents.*.max_tokens", "integer", "As `run.max_tokens`."),
    ConfigKey("agents.*.max_steps", "integer", "As `run.max_steps`."),
    ConfigKey("agents.*.timeout", "number", "As `run.timeout`."),
    ConfigKey("agents.*.options", "table", "As `run.options`."),
    ConfigKey("templates.*.prompt", "text", "The question of `bough run -t NAME`; `$input` is what was asked, and any "
        "other `$name` a variable."),
    ConfigKey("templates.*.system", "text", "Its system prompt, with variables too."),
    ConfigKey("templates.*.model", "text", "As `run.model`."),
    ConfigKey("templates.*.agent", "text", "As `run.agent`."),
    ConfigKey("templates.*.schema", "text", "As `--schema`."),
    ConfigKey("templates.*.options", "table", "As `run.options`."),
    ConfigKey("templates.*.defaults", "table", "Values of variables that no `-p` gives."),
    ConfigKey("providers.*.type", "text", "Its API.",
        choices=("openai", "openai.responses", "anthropic", "gemini.interactions", "cohere", "ollama")),
    ConfigKey("providers.*.dialect", "text", "The dialect of its server, of those in docs/formats.md. "
        "Default: by the address."),
    ConfigKey("providers.*.base_url", "text", "Its address, including the version: `https://host/v1`."),
    ConfigKey("providers.*.api_key", "text", "Its API key. Prefer `api_key_env`.", secret=True),
    ConfigKey("providers.*.api_key_env", "text", "The environment variable with its API key."),
    ConfigKey("providers.*.model", "text", "The model, if only the provider is named."),
    ConfigKey("providers.*.window", "integer", "Its context window, in tokens."),
    ConfigKey("providers.*.timeout", "number", "Longest wait for data, in seconds."),
    ConfigKey("providers.*.threads", "integer",
        "Number of threads of the embedded model; 1 is best on a busy machine."),
    ConfigKey("providers.*.headers", "table", "Additional headers of every request.", secret=True),
    ConfigKey("providers.*.options", "table", "Added to every request unchanged."),
    ConfigKey("server.host", "text", "The address that `bough serve` listens on.", "127.0.0.1"),
    ConfigKey("server.port", "integer", "The port that `bough serve` listens on.", 8011),
    ConfigKey("server.token_file", "path", "The file with the server's token. Default: in the user's data directory."),
    ConfigKey("server.hosts", "list", "Further names that a request's Host header may have."),
    ConfigKey("server.origins", "list", "Other sites whose pages may send requests: `https://name`."),
    ConfigKey("server.models", "table", "Aliases of models: the name in a request = `PROVIDER:MODEL`."),
    ConfigKey("server.proxy", "table",
        "Addresses that `/proxy/TOKEN/NAME/…` sends requests to: NAME = address. `openai` and `anthropic` are known."),
    ConfigKey("server.max_body", "integer", "Most bytes of a request body.", 64_000_000),
    ConfigKey("server.header_seconds", "number", "Seconds for the headers of a request.", 10.0),
    ConfigKey("server.read_seconds", "number", "Longest wait for the next piece of a request body, in seconds.", 30.0),
    ConfigKey("server.max_connections", "integer", "Most connections at the same time.", 1000),
    ConfigKey("server.requests_per_minute", "integer", "Most requests of one token within a minute. Default: any."),
    ConfigKey("server.grace", "number", "Seconds that streams may go on after a signal to stop.", 10.0),
    ConfigKey("channels.*.token", "text", "The token of the bot. Prefer `BOUGH_TELEGRAM_TOKEN` and the like, "
        "`bough keys set telegram`, or `token_file`.", secret=True),
    ConfigKey("channels.*.token_file", "path", "A file with the token."),
    ConfigKey("channels.*.base_url", "text", "The address of the service, for a server of one's own."),
    ConfigKey("channels.*.api_url", "text", "The address of Discord's API, for another one than Discord's own."),
    ConfigKey("channels.*.gateway_url", "text", "The address of its gateway."),
    ConfigKey("channels.*.allow", "list", "Ids of people and chats that may talk to the bot. Nobody else may, unless "
        "let in with a code of `bough bot --pair`."),
    ConfigKey("channels.*.agent", "text", "The agent of `[agents.NAME]` that answers."),
    ConfigKey("channels.*.model", "text", "The model that answers, as `run.model`."),
    ConfigKey("channels.*.models", "list", "The models that `/model` offers."),
    ConfigKey("channels.*.daily_tokens", "integer", "Most tokens of one person in a day (UTC)."),
    ConfigKey("channels.*.daily_cost", "number", "Most cost of one person in a day (UTC), in dollars."),
    ConfigKey("channels.*.webhook_url", "text", "Public address that Telegram sends updates to, instead of polling."),
    ConfigKey("channels.*.webhook_secret", "text", "What Telegram proves itself with there.", secret=True),
    ConfigKey("channels.*.webhook_host", "text", "The address to listen on for the webhook."),
    ConfigKey("channels.*.webhook_port", "integer", "The port to listen on for the webhook."),
    ConfigKey("mcp.*.command", "list", "The program and arguments of a server on stdio."),
    ConfigKey("mcp.*.env", "table",
        "Environment variables of that program; `$NAME` inserts one of yours.", secret=True),
    ConfigKey("mcp.*.cwd", "path", "The working directory of that program."),
    ConfigKey("mcp.*.url", "text", "The address of a server on HTTP."),
    ConfigKey("mcp.*.headers", "table",
        "Headers for that address; `$NAME` inserts an environment variable.", secret=True),
    ConfigKey("mcp.*.timeout", "number", "Longest duration of a tool call, in seconds."),
)  # fmt: skip

BY_NAME = {key.name: key for key in KEYS}
SECTIONS = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS))
NAMED = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS if ".*." in key.name))


def find_key(name: str) -> ConfigKey | None:
    """The key of a dotted name: `agents.reviewer.model` is `agents.*.model`."""
    section, _, rest = name.partition(".")
    if section in NAMED:
        chosen, dot, last = rest.rpartition(".")
        return BY_NAME.get(f"{section}.*.{last}") if chosen and dot else None
    return BY_NAME.get(name)


def suggestion(name: str) -> str:
    """`Did you mean …?` for an unknown key; empty when no key is similar."""
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
    """The keys with this name in other tables: `run.model` for `model` or `db.model`."""
    last = name.rpartition(".")[2]
    return [known for known in BY_NAME if known.rpartition(".")[2] == last and "*" not in known]
