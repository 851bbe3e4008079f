"""The program `hopvec`: its verbs, loaded when they are used, and its exit codes."""

from __future__ import annotations

import difflib
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from threading import current_thread, main_thread
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from hopvec.errors import HopvecError

# A verb is a file of this folder that holds a command of the same name, and one line here.
VERBS = {
    "embed": "Embed a graph: a vector for every node.",
    "transform": "Embed nodes that come after a run.",
    "presets": "Show the sets of parameters that have a name.",
    "estimate": "Tell time, memory and disk of a run before it starts.",
    "info": "Tell what a file holds: a graph or an embedding.",
    "neighbors": "List the nodes most similar to some.",
    "diff": "List the nodes that moved most from one embedding to another.",
    "evaluate": "Score vectors: how well they tell the labels of nodes, or links.",
    "split": "Hold edges of a graph out, to predict them.",
    "tune": "Search the parameters that suit a graph best.",
    "convert": "Rewrite an embedding in another format.",
    "export": "Copy an embedding into a database.",
    "map": "Draw a map of vectors: what is alike lies together.",
    "layout": "Lay vectors out in the plane, and keep x and y beside them.",
    "explore": "Wander through vectors on a page in the browser.",
    "reproduce": "Reproduce the tables and figures of the paper.",
    "data": "List the data sets that have a name, or download some.",
    "generate": "Generate a random graph: Erdos-Renyi, Chung-Lu or R-MAT.",
    "bench": "Measure this machine: its memory, and what hopvec makes of it.",
    "demo": "Embed the packages of Debian, and see what is near what.",
    "completion": "Print the script that completes hopvec's words in a shell.",
}
EXAMPLES = """\
Examples:
  hopvec embed edges.csv -o vectors.parquet
  hopvec neighbors vectors.parquet nytimes.com
  hopvec embed --help
"""
LIST = "N,N,..."  # how the help shows that an option takes a list of numbers
KEEPING = ("demo", "reproduce")  # verbs that write one thing after the other
STOPPED, TERMINATED = 130, 143  # 128 + the signal, as shells have it


class Program(click.Group):
    """The group of all verbs: loads one when it is asked for, and turns errors into sentences."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of a verb."""
        if name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"hopvec.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb asked for; a sentence with the likely one if there is none of that name."""
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            close = difflib.get_close_matches(name, VERBS, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"They are {', '.join(VERBS)}."
            raise click.UsageError(f"There is no verb {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with their lines of the table, so that none has to be loaded."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Some examples, as they are typed."""
        formatter.write("\n" + EXAMPLES)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs by the table, then what every command completes."""
        verbs = [
            CompletionItem(name, help=line)
            for name, line in VERBS.items()
            if name.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Runs a command line: 0 done, 1 a fault of hopvec, 2 something its user can mend."""
        extra["standalone_mode"] = False
        if os.environ.get("NO_COLOR"):
            extra["color"] = False
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, _terminate)
        words = sys.argv[1:] if args is None else list(args)
        try:
            sys.exit(self._run(words, prog_name, extra))
        except click.ClickException as error:
            _refuse(_sentence(error, words))
        except HopvecError as error:
            _refuse(str(error))
        except (click.Abort, KeyboardInterrupt):
            if "--quiet" not in words:
                start = "\r" if sys.stderr.isatty() else ""  # over the ^C
                kept = any(word in KEEPING for word in words[:1])
                left = "what was finished is kept" if kept else "nothing was written"
                click.echo(f"{start}Stopped; {left}.", err=True)
            sys.exit(STOPPED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except MemoryError:
            _refuse("The memory of the machine is used up. Bound the run, such as --memory 2GB.", 1)
        except Exception as error:
            _refuse(
                f"hopvec stumbled over {type(error).__name__}: {error}. "
                "This is a fault of hopvec; --debug shows where it happened.",
                1,
            )

    def _run(self, words: list[str], prog_name: str | None, extra: dict[str, Any]) -> int:
        """The exit code of a command line that ends well."""
        try:
            code = super().main(words, prog_name, **extra)
            sys.stdout.flush()
        except Exception:
            if "--debug" in words:
                import traceback

                traceback.print_exc()
            raise
        return code if isinstance(code, int) else 0


def _terminate(signal_: int, frame: object) -> NoReturn:
    """Ends like Ctrl-C, so that nothing half-written is left behind."""
    sys.exit(TERMINATED)


def _sentence(error: click.ClickException, words: list[str]) -> str:
    """The message of click, what may be meant by the words typed, and where to read on."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        close = " or ".join(error.possibilities or ())
        message = f"There is no option {error.option_name}." + (
            f" Did you mean {close}?" if close else ""
        )
    message += "" if message.endswith((".", "?", "!")) else "."
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:
        return message
    return f"{message}{_advice(error, ctx, words)} See {ctx.command_path} --help."


def _advice(error: click.ClickException, ctx: click.Context, words: list[str]) -> str:
    """What to type instead, where the words tell what is meant."""
    if isinstance(error, click.NoSuchOption):
        behind = ctx.info_name == "neighbors" and not error.option_name.startswith("--")
        return ' Put "--" before ids that begin with "-".' if behind else ""
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        wrong = re.match(r"'(.*)' is not one of", error.message)
        if wrong and isinstance(error.param.type, click.Choice):
            close = difflib.get_close_matches(wrong[1], map(str, error.param.type.choices), n=1)
            return f" Did you mean {close[0]!r}?" if close else ""
    for option in ctx.command.params:
        if option.metavar == LIST and option.opts[0] in words:
            values = words[words.index(option.opts[0]) + 1 :]
            numbers = list(takewhile(_is_number, values))
            if len(numbers) > 1:
                return f" Put commas between numbers: {option.opts[0]} {','.join(numbers)}."
    return ""


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _refuse(sentence: str, code: int = 2) -> NoReturn:
    click.secho(sentence, fg="red", err=True)
    sys.exit(code)


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(None, "-V", "--version", package_name="hopvec", message="hopvec %(version)s")
@click.pass_context
def hopvec(ctx: click.Context) -> None:
    """Turn graphs into vectors."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
