"""`hopvec completion`: prints a script for shell completion."""

import click
from click.shell_completion import get_completion_class

from hopvec.cli.command import command
from hopvec.cli.terminal import Terminal


@command(
    examples=[
        "hopvec completion bash >> ~/.bashrc",
        "hopvec completion zsh >> ~/.zshrc",
        "hopvec completion fish > ~/.config/fish/completions/hopvec.fish",
    ]
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def completion(terminal: Terminal, shell: str) -> None:
    """Print a script for shell completion.

    SHELL is bash, zsh or fish. Add the script to the startup files of the shell, as in the
    examples, and open a new shell.
    """
    from hopvec.cli.program import hopvec

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}")
    terminal.print(kind(hopvec, {}, "hopvec", "_HOPVEC_COMPLETE").source())
