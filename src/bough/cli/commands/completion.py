"""`bough completion SHELL`: the completion script of a shell, for commands, options, ids and session names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

INSTALL = {
    "bash": "bough completion bash > ~/.local/share/bash-completion/completions/bough",
    "zsh": "bough completion zsh > ~/.zfunc/_bough   # with fpath+=~/.zfunc before compinit in ~/.zshrc",
    "fish": "bough completion fish > ~/.config/fish/completions/bough.fish",
}


@click.command(epilog="\b\n" + "\n".join(INSTALL.values()))
@click.argument("shell", type=click.Choice(list(INSTALL)))
def command(shell: str) -> None:
    """Print the script that completes commands, options, ids and session names in SHELL.

    Install it where your shell finds it:
    """
    from bough.cli.registry import ROOT

    found = get_completion_class(shell)
    assert found is not None
    script = found(ROOT, {}, "bough", "_BOUGH_COMPLETE").source()
    if shell == "bash":  # bash would split session names at colons
        click.echo("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}")
    if shell == "fish":  # descriptions, the first words of messages, contain commas
        script = script.replace('string split "," ', 'string split --max 1 "," ')
    click.echo(script)
