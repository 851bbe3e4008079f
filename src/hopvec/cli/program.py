"""The program `hopvec`: its commands, which are imported on first use, and its exit codes."""

from __future__ import annotations

import difflib
import errno
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from itertools import takewhile
from threading import current_thread, main_thread
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from hopvec.cli.address_space import AddressSpace
from hopvec.errors import HopvecError

# Each command is a module of this package with a Command of the same name, and one line here.
COMMANDS = {
    "embed": "Embed a graph: compute one vector per node.",
    "transform": "Embed new nodes into the space of existing vectors.",
    "presets": "List the parameter presets.",
    "estimate": "Estimate time, memory and disk space before a run.",
    "info": "Inspect a file: a graph or an embedding.",
    "neighbors": "Find the nearest neighbors of nodes.",
    "recommend": "Recommend new links: the most likely edges that are not there yet.",
    "snapshots": "Embed windows of time, one comparable embedding per window.",
    "diff": "List the nodes that moved most between two embeddings.",
    "evaluate": "Score embeddings by node classification, link prediction or recommendation.",
    "split": "Split a graph into training edges and held-out links.",
    "tune": "Search for the best parameters for a graph.",
    "convert": "Convert an embedding to another format.",
    "export": "Export an embedding to a database.",
    "map": "Draw a map of embeddings: similar nodes lie close together.",
    "layout": "Compute 2D positions and store them with the vectors.",
    "explore": "Explore embeddings in the browser.",
    "reproduce": "Reproduce the tables and figures of the paper.",
    "data": "List or download datasets, or write their edges to a file.",
    "generate": "Generate a random graph: Erdos-Renyi, Chung-Lu or R-MAT.",
    "bench": "Benchmark hopvec on this machine.",
    "demo": "Run a demo: embed, evaluate and map the packages of Debian.",
    "completion": "Print a script for shell completion.",
}
EXAMPLES = """\
Examples:
  hopvec embed edges.csv -o vectors.parquet
  hopvec neighbors vectors.parquet nytimes.com
  hopvec embed --help
"""
LIST = "N,N,..."  # the metavar of options that take a list of numbers
# Commands that write several files, one after the other.
KEEPING = ("demo", "reproduce", "snapshots")
# Of standard output: the library reports those of files by their name.
OUTPUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
STOPPED, TERMINATED = 130, 143  # 128 + the signal, as in shells


class Program(click.Group):
    """The group of all commands: imports them on first use and prints errors as sentences."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command by its name."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"hopvec.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, the error suggests a similar one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = (
                f"Did you mean {close[0]!r}?"
                if close
                else f"The commands are {', '.join(COMMANDS)}."
            )
            raise click.UsageError(f"There is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their lines of the table, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write some examples."""
        formatter.write("\n" + EXAMPLES)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands by the table, then the options."""
        commands = [
            CompletionItem(name, help=line)
            for name, line in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run a command line and exit: 0 success, 1 a bug in hopvec, 2 a user error."""
        extra["standalone_mode"] = False
        if os.environ.get("NO_COLOR"):
            extra["color"] = False
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, _terminate)
        _open_closed_streams()
        _escape_unencodable()
        address_space = AddressSpace()
        arguments = sys.argv[1:] if args is None else list(args)
        try:
            if address_space.too_small:
                _refuse(str(address_space))
            sys.exit(self._run(arguments, prog_name, extra))
        except click.ClickException as error:
            _refuse(_sentence(error, arguments))
        except HopvecError as error:
            _refuse(str(error))
        except (click.Abort, KeyboardInterrupt):
            if "--quiet" not in arguments:
                start = "\r" if sys.stderr.isatty() else ""  # over the ^C
                kept = any(name in KEEPING for name in arguments[:1])
                left = "finished files were kept" if kept else "nothing was written"
                click.echo(f"{start}Stopped; {left}.", err=True)
            sys.exit(STOPPED)
        except BrokenPipeError:
            _discard_output()
            sys.exit(1)
        except PermissionError as error:  # of a folder that may not be entered
            _refuse(f"{error.filename}: {error.strerror}." if error.filename else str(error))
        except MemoryError:
            if address_space.limit is not None:
                _refuse(str(address_space))
            _refuse("Out of memory. Set a limit, such as --memory 2GB.", 1)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OUTPUT_ERRORS and not error.filename:
                _discard_output()
                _refuse(f"Standard output cannot be written ({error.strerror or error}).")
            if address_space.explains(error):
                _refuse(str(address_space))
            _refuse(
                f"hopvec failed with {type(error).__name__}: {error}. "
                "This is a bug in hopvec; --debug shows the traceback.",
                1,
            )

    def _run(self, arguments: list[str], prog_name: str | None, extra: dict[str, Any]) -> int:
        """Run a command and return its exit code; print the traceback if --debug was given."""
        try:
            code = super().main(arguments, prog_name, **extra)
            sys.stdout.flush()
        except Exception:
            if "--debug" in arguments:
                import traceback

                from hopvec.credentials import scrub
                from hopvec.escape import visible

                click.echo(visible(scrub(traceback.format_exc()), keep="\n"), err=True, nl=False)
            raise
        return code if isinstance(code, int) else 0


def _open_closed_streams() -> None:
    """Open streams that were closed before the start, as by `>&-`: no file may take their place.

    Writing to a closed standard output is an error; messages to a closed standard error are lost.
    """
    for descriptor, access in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, access)  # takes the smallest descriptor that is free
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def _escape_unencodable() -> None:
    r"""Print characters that the encoding of a stream lacks as escapes, such as \u65e5."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Send what was not printed yet to the null device, so that Python can flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(signal_: int, frame: object) -> NoReturn:
    """Exit like Ctrl-C, so that no partial files are left behind."""
    sys.exit(TERMINATED)


def _sentence(error: click.ClickException, arguments: list[str]) -> str:
    """The message of click, a suggestion, and where to find help."""
    message = error.format_message()
    if isinstance(error, click.MissingParameter):
        message = " ".join(message.split())  # click puts each choice on a line of its own
    if isinstance(error, click.NoSuchOption):
        close = " or ".join(error.possibilities or ())
        message = f"There is no option {error.option_name}." + (
            f" Did you mean {close}?" if close else ""
        )
    message += "" if message.endswith((".", "?", "!")) else "."
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:
        return message
    return f"{message}{_suggestion(error, ctx, arguments)} See {ctx.command_path} --help."


def _suggestion(error: click.ClickException, ctx: click.Context, arguments: list[str]) -> str:
    """What to type instead, if the arguments show what was meant."""
    if isinstance(error, click.NoSuchOption):
        behind = ctx.info_name in ("neighbors", "recommend") and not error.option_name.startswith(
            "--"
        )
        return ' Put "--" before ids that begin with "-".' if behind else ""
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        wrong = re.match(r"'(.*)' is not one of", error.message)
        if wrong and isinstance(error.param.type, click.Choice):
            close = difflib.get_close_matches(wrong[1], map(str, error.param.type.choices), n=1)
            return f" Did you mean {close[0]!r}?" if close else ""
    for option in ctx.command.params:
        takes_list = LIST in (option.metavar or "")
        if takes_list and option.opts[0] in arguments:
            values = arguments[arguments.index(option.opts[0]) + 1 :]
            numbers = list(takewhile(_is_number, values))
            if len(numbers) > 1:
                return f" Put commas between numbers: {option.opts[0]} {','.join(numbers)}."
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse(sentence: str, code: int = 2) -> NoReturn:
    from hopvec.credentials import scrub
    from hopvec.escape import visible

    # It may repeat arguments.
    click.secho(visible(scrub(sentence)), fg="red", err=True)
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
