"""`hopvec completion`: the script that completes verbs, options and their values in a shell."""

import click
from click.shell_completion import get_completion_class

from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import verb


@verb(
    examples=[
        "hopvec completion bash >> ~/.bashrc",
        "hopvec completion zsh >> ~/.zshrc",
        "hopvec completion fish > ~/.config/fish/completions/hopvec.fish",
    ]
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def completion(terminal: Terminal, shell: str) -> None:
    """Print the script that completes hopvec's words in a shell.

    SHELL is bash, zsh or fish. Put the script where the shell reads it at its start, as the
    examples do, and open a new shell.
    """
    from hopvec.cli.program import hopvec

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}")
    terminal.answer(kind(hopvec, {}, "hopvec", "_HOPVEC_COMPLETE").source())
