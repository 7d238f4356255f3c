"""`bough tokens`: who else may use the server."""

from __future__ import annotations

import click

from bough.cli.locate import Locator
from bough.cli.options import json_option, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.times import format_time
from bough.cli.registry import Commands
from bough.model.times import parse_duration
from bough.model.values import asdict

SCOPE_HELP = "What it allows: read, write, run, admin. Repeatable.  [default: read, write, run]"


@click.command()
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help=SCOPE_HELP)
@click.option("--namespace", help="The namespace of a PostgreSQL server that it opens.  [default: the server's]")
@click.option("--expires", metavar="SPAN", help="When it ends: 12h, 30d.  [default: never]")
@json_option
@store_options
@click.pass_obj
def create(
    locator: Locator, name: str, scopes: tuple[str, ...], namespace: str | None, expires: str | None, as_json: bool
) -> None:
    """Make a token for NAME and print it. It cannot be shown again: only its hash is stored."""
    from bough.server.access import tokens

    with locator.store() as store:
        ends = None if expires is None else parse_duration(expires)
        chosen = scopes or ("read", "write", "run")
        made, token = tokens.create(store, name, chosen, tenant=namespace, expires=ends)
    if as_json:
        print_json({**asdict(made), "token": token})
        return
    note(f"A token for {name}, with {', '.join(made.scopes)}. `bough tokens revoke {made.id}` ends it.")
    print_lines([token])


@click.command("list")
@json_option
@store_options
@click.pass_obj
def list_(locator: Locator, as_json: bool) -> None:
    """List the tokens, without their secrets."""
    from bough.server.access import tokens

    with locator.existing(missing_ok=True) as store:
        found = tokens.all_of(store)
    if as_json:
        print_json([asdict(one) for one in found])
        return
    rows = [
        [one.id, one.name, ",".join(one.scopes), one.tenant or "", format_time(one.created_at),
         "" if one.expires_at is None else format_time(one.expires_at)]
        for one in found
    ]  # fmt: skip
    print_lines(table(["id", "name", "scopes", "namespace", "made", "ends"], rows))


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@store_options
@click.pass_obj
def revoke(locator: Locator, ids: tuple[str, ...]) -> None:
    """End tokens: they stop working at once."""
    from bough.server.access import tokens

    with locator.existing() as store:
        for id in ids:
            note(f"The token of {tokens.revoke(store, id).name} was revoked.")


command = Commands(
    "tokens",
    {
        "create": ("tokens:create", "Make a token."),
        "list": ("tokens:list_", "List the tokens."),
        "revoke": ("tokens:revoke", "End tokens."),
    },
    {},
    help="Tokens for the users and programs of `bough serve`.",
)
