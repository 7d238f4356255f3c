"""`bough completion SHELL`: the script that makes a shell complete commands, options, ids and session names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

WHERE = {
    "bash": "bough completion bash > ~/.local/share/bash-completion/completions/bough",
    "zsh": "bough completion zsh > ~/.zfunc/_bough   # with fpath+=~/.zfunc before compinit in ~/.zshrc",
    "fish": "bough completion fish > ~/.config/fish/completions/bough.fish",
}


@click.command(epilog="\b\n" + "\n".join(WHERE.values()))
@click.argument("shell", type=click.Choice(list(WHERE)))
def command(shell: str) -> None:
    """Print the script that completes commands, options, ids and session names in SHELL.

    Put it where your shell looks for it:
    """
    from bough.cli.registry import ROOT

    found = get_completion_class(shell)
    assert found is not None
    script = found(ROOT, {}, "bough", "_BOUGH_COMPLETE").source()
    if shell == "bash":  # which would take the names of sessions apart: cli, :, garden
        click.echo("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}")
    if shell == "fish":  # the first words of a message have commas of their own
        script = script.replace('string split "," ', 'string split --max 1 "," ')
    click.echo(script)
