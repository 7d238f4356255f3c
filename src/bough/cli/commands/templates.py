"""`bough templates [NAME]`: the templates of questions in the configuration."""

from __future__ import annotations

from typing import Any

import click

from bough.cli.ask.templates import PromptTemplate, find_template
from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import echo, note, print_json, print_lines, styled
from bough.cli.output.table import table
from bough.cli.output.text import one_line

HOW = """\
[templates.NAME]
system = "You are a reviewer."
prompt = "Review this $language: $input"
defaults = { language = "Python" }"""


@click.command(
    "templates", epilog=examples("bough templates", "bough templates review", "git diff | bough run -t review")
)
@click.argument("name", metavar="[NAME]", required=False)
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, name: str | None, as_json: bool) -> None:
    """List the templates of the configuration, or print one. `bough run -t NAME` asks with it.

    A template is a table [templates.NAME] with any of prompt, system, model, agent, schema, options and defaults. In
    its texts, $input is the question with piped input, and any other $name is given by -p name=value or by defaults.
    """
    config = locator.settings()
    found = [find_template(config, one) for one in ([name] if name else config.names("templates"))]
    if as_json:
        made = [template_json(one) for one in found]
        print_json(made[0] if name else made)
    elif name:
        for field, text in template_json(found[0]).items():
            if text:
                echo(f"{styled(field, 'bold')}: {text}")
    elif found:
        rows = [(one.name, ", ".join(one.variables), one_line(one.prompt or one.system or "")) for one in found]
        print_lines(table(("NAME", "VARIABLES", "TEXT"), rows))
    else:
        note(f"There is no template yet. `bough config edit`, and write for example:\n\n{HOW}")


def template_json(one: PromptTemplate) -> dict[str, Any]:
    return {name: getattr(one, name) for name in PromptTemplate.__match_args__} | {"variables": one.variables}
