"""`bough keys …`: store the API keys of providers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, locator_of, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.registry import Commands
from bough.errors import Invalid, NotFound

ORDER = "A key in the configuration is used before one in the environment, and that before a stored one."


def providers(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Providers for shell completion."""
    return [name for name in known_providers(locator_of(ctx)) if name.startswith(incomplete)]


def known_providers(locator: Locator) -> list[str]:
    """The providers that may have a key: those of the catalog and of the configuration."""
    from bough.providers.catalog import SERVICES

    catalog = [name for name, service in SERVICES.items() if service.key_env]
    return list(dict.fromkeys([*catalog, *locator.settings().names("providers")]))


@click.command("set", epilog=examples("bough keys set openai", "pass show openai | bough keys set openai"))
@click.argument("provider", metavar="PROVIDER", shell_complete=providers)
@click.option("--file", "in_file", is_flag=True, help="Store it in the file, even if there is a keyring.")
@json_option
@store_options
@click.pass_obj
def set_(locator: Locator, provider: str, in_file: bool, as_json: bool) -> None:
    """Store the key of PROVIDER, which is asked for, or read from a pipe. It is never shown.

    It goes to the system's keyring if there is one, else to a file that only you can read.
    """
    from bough.config.key_store import set_key

    check_provider(locator, provider)
    piped = not sys.stdin.isatty()
    key = sys.stdin.readline() if piped else click.prompt(f"Key of {provider}", hide_input=True, err=True)
    key = key.strip()
    if not key or not (key.isascii() and key.isprintable()):
        raise Invalid("That is no key: it is empty, or has characters that no key has. Nothing was stored.")
    place = set_key(provider, key, in_file=in_file)
    if as_json:
        print_json({"provider": provider, "stored_in": place})
    else:
        note(f"The key of {provider} is in the {place if place == 'keyring' else 'file of keys'}.")


@click.command("remove", epilog=examples("bough keys remove openai"))
@click.argument("provider", metavar="PROVIDER", shell_complete=providers)
@json_option
def remove(provider: str, as_json: bool) -> None:
    """Delete the stored key of PROVIDER."""
    from bough.config.key_store import remove_key

    if not remove_key(provider):
        raise NotFound(f"No key is stored for {provider!r}. `bough keys list` shows which are.")
    if as_json:
        print_json({"provider": provider, "removed": True})
    else:
        note(f"The key of {provider} is deleted here; with the provider it is valid until you revoke it.")


@click.command("list", epilog=examples("bough keys list", "bough keys --json"))
@json_option
@store_options
@click.pass_obj
def list_(locator: Locator, as_json: bool) -> None:
    """List the providers that have a key, and where it comes from. Keys are never shown."""
    rows = list(sources(locator, os.environ))
    if as_json:
        print_json([{"provider": name, "from": source} for name, source in rows])
    elif rows:
        print_lines(table(("PROVIDER", "KEY FROM"), rows))
    else:
        note("No provider has a key. To store one: bough keys set PROVIDER")


def sources(locator: Locator, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The providers that have a key, and the origin of the one that is used."""
    from bough.config.key_store import stored_keys
    from bough.providers.catalog import service

    tables: dict[str, dict[str, Any]] = locator.settings().tables("providers")
    stored = stored_keys()
    for name in dict.fromkeys([*known_providers(locator), *stored]):
        own = tables.get(name, {})
        known = service(name, own, environ)
        variable = known.key_env if known else None
        if own.get("api_key"):
            yield name, "the configuration"
        elif variable and environ.get(variable):
            yield name, f"${variable}"
        elif name in stored:
            yield name, "the keyring" if stored[name] == "keyring" else "the file of keys"


def check_provider(locator: Locator, provider: str) -> None:
    """Raise `NotFound` for a provider that is not known."""
    known = known_providers(locator)
    if provider not in known:
        raise NotFound(f"No provider is called {provider!r}. There are {', '.join(known)}; [providers.NAME] adds one.")


command = Commands(
    "keys",
    {
        "list": ("keys:list_", "List the providers that have a key."),
        "set": ("keys:set_", "Store the key of a provider."),
        "remove": ("keys:remove", "Delete the stored key of a provider."),
    },
    {"ls": "list", "add": "set", "delete": "remove", "rm": "remove"},
    default="list",
    help=f"Store the API keys of providers. Without a command: list.\n\n{ORDER}",
    epilog=examples("bough keys set anthropic", "bough keys", "bough keys remove anthropic"),
)
