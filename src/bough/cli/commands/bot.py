"""`bough bot`: people talk to an agent through Telegram, Discord and the like."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from bough.cli.locate import Locator
from bough.cli.options import json_option, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.times import format_time
from bough.errors import Invalid

if TYPE_CHECKING:
    from bough.channels.members import Members
    from bough.store import Store


@click.command("bot")
@click.argument("channels", nargs=-1, metavar="[CHANNEL]...")
@click.option("--pair", is_flag=True, help="Print a code that lets one person in: they send it to the bot.")
@click.option("--members", is_flag=True, help="List who was let in with a code.")
@click.option("--remove", metavar="ID", help="Take back what a code has given.")
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, channels: tuple[str, ...], pair: bool, members: bool, remove: str | None, as_json: bool
) -> None:
    """Answer on chat services: telegram, discord, matrix. Without CHANNEL, on all that the configuration has.

    Every message is a node of the tree: a reply to an older one is a branch, an edit a sibling. A question that was
    received is answered once, whatever happens to this process. Ctrl+C, or SIGTERM, stops it.
    """
    if not (pair or members or remove):
        run(locator, channels)
        return
    if len(channels) != 1 or pair + members + bool(remove) != 1:
        raise Invalid("Name one channel, and one of --pair, --members and --remove.")
    with locator.store() as store:
        manage(store, channels[0], pair, remove, as_json)


def manage(store: Store, channel: str, pair: bool, remove: str | None, as_json: bool) -> None:
    """Print a code, take somebody off the list, or print the list."""
    from bough.channels.members import CODE_SECONDS, Members

    listed = Members(store, channel)
    if remove:
        listed.remove(remove)
        note(f"{remove} may not talk to the bot any more.")
    elif pair:
        code = listed.make_code()
        minutes = CODE_SECONDS // 60
        note(f"Valid once, for {minutes} minutes. Whoever sends it to the bot may talk to it from then on.")
        print_json({"code": code}) if as_json else print_lines([f"/pair {code}"])
    else:
        print_members(listed, as_json)


def print_members(listed: Members, as_json: bool) -> None:
    found = listed.admitted()
    if as_json:
        print_json([one._asdict() for one in found])
        return
    rows = [(one.member, one.name, format_time(one.admitted_at)) for one in found]
    print_lines(table(("ID", "NAME", "SINCE"), rows))


def run(locator: Locator, channels: tuple[str, ...]) -> None:
    """Run the bot until a signal."""
    from bough.agent import Stop
    from bough.channels.bot import Bot
    from bough.channels.services import open_service
    from bough.channels.settings import ChannelSettings
    from bough.cli.ask.runtime import agents_of

    config = locator.settings()
    names = channels or tuple(config.names("channels"))
    if not names:
        raise Invalid("No channel is named, and the configuration has no [channels.NAME]; see docs/channels.md.")
    settings = [ChannelSettings.of(config, name) for name in names]
    services = [(open_service(one), one) for one in settings]
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set(by_user=False))
    with locator.store() as store, agents_of(locator) as runtime:
        Bot(store, runtime, services, stop).run(lambda name: note(f"bough answers on {name}."))
