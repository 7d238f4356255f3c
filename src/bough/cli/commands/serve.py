"""`bough serve` and `bough page`: the store over HTTP."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from bough.cli.locate import Locator
from bough.cli.options import store_options
from bough.errors import Refused

if TYPE_CHECKING:
    from bough.server.settings import ServerSettings


def serve_options(function: Any) -> Any:
    """The options that `serve` and `page` share."""
    for option in (
        click.option("--host", help="The address to listen on.  [default: 127.0.0.1]"),
        click.option("--port", type=click.IntRange(0, 65_535), help="The port; 0 is any free one.  [default: 8011]"),
        click.option("--socket", "socket_path", type=click.Path(), help="Listen on a Unix socket instead."),
        click.option("--token-file", type=click.Path(), help="The file with the token; made if there is none."),
        click.option("--no-token", is_flag=True, help="Let everybody on this machine in; refused elsewhere."),
        click.option("-m", "--model", "models", multiple=True, metavar="PROVIDER:MODEL",
                     help="A model to offer; the first one is the default. Repeatable."),
        click.option("--tls-cert", type=click.Path(exists=True), help="The certificate, in PEM."),
        click.option("--tls-key", type=click.Path(exists=True), help="Its key."),
        click.option("--behind-proxy", is_flag=True, help="A reverse proxy encrypts; believe its X-Forwarded headers."),
        click.option("-v", "--verbose", is_flag=True, help="Write a line of JSON on stderr for each request."),
        store_options,
    ):  # fmt: skip
        function = option(function)
    return function


@click.command("serve")
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@serve_options
@click.pass_obj
def command(locator: Locator, /, open_page: bool, **options: Any) -> None:
    """Serve the store over HTTP: OpenAI's and Anthropic's APIs on /v1, bough's own on /api/v1, MCP, and the page.

    On this machine only, unless --host says otherwise, and only with a token: that of the token file, or one that
    `bough tokens create` made. Ctrl+C, or SIGTERM, lets streams end.
    """
    run(locator, open_page, **options)


@click.command("page")
@serve_options
@click.pass_obj
def page(locator: Locator, /, **options: Any) -> None:
    """Open the page with all conversations in a browser: `bough serve --open`."""
    run(locator, True, **options)


def run(locator: Locator, open_page: bool, **options: Any) -> None:
    try:
        from bough.server.listen import bind
    except ImportError as missing:
        raise Refused(f"Serving needs more: pip install 'bough[server]' ({missing}).") from None
    verbose, models = options.pop("verbose"), options.pop("models")
    listening, settings = bind(settings_of(locator, **options))
    start(locator, listening, settings, tuple(models), open_page, verbose)


def settings_of(
    locator: Locator, *, token_file: str | None, no_token: bool, tls_cert: str | None, tls_key: str | None,
    behind_proxy: bool, **given: Any,
) -> ServerSettings:  # fmt: skip
    """The settings of the command line over those of the configuration. Raises `Refused`, before any file is made."""
    from bough.model.values import replace
    from bough.server import settings
    from bough.server.access import token_file as file

    chosen = settings.from_config(
        locator.settings(), certificate=tls_cert, key=tls_key, behind_proxy=behind_proxy or None, **given
    )
    replace(chosen, token=None if no_token else "to be read").check()
    if no_token:
        return chosen
    named = token_file or locator.settings().get("server.token_file") or file.default_path()
    return replace(chosen, token=file.read_or_create(named))


def start(
    locator: Locator, listening: Any, settings: ServerSettings, models: tuple[str, ...], open_page: bool, verbose: bool
) -> None:
    from bough.cli.ask.runtime import agents_of
    from bough.server.access.cookies import Cookies
    from bough.server.context import ServerContext
    from bough.server.listen import serve
    from bough.server.models import Models
    from bough.server.observe import Metrics, log_to_stderr
    from bough.server.stores import Stores

    log_to_stderr(verbose=verbose)
    cookies = None
    if settings.token is not None:
        cookies = Cookies.of(settings.token, settings.port, settings.certificate is not None or settings.behind_proxy)
    config = locator.settings()
    with agents_of(locator) as runtime:
        context = ServerContext(
            settings, config, Stores(locator.open_namespace), Models(config, settings.models, models), runtime,
            Metrics(), cookies,
        )  # fmt: skip
        serve(context, listening, lambda: announce(settings, open_page))


def announce(settings: ServerSettings, open_page: bool) -> None:
    """Print the address; on a terminal and for a browser, the one that signs in."""
    address = settings.address
    signing_in = f"{address}/signin#t={settings.token}" if settings.token else address
    shown = signing_in if open_page or sys.stdout.isatty() else address
    click.echo(f"bough listens on {shown}")
    sys.stdout.flush()
    if open_page and settings.socket_path is None:
        import webbrowser

        webbrowser.open(signing_in)
