"""Command: the base of all commands, with examples in its help, option groups and --quiet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from hopvec._native import report_truncated_maps
from hopvec.cli.messages import name_options
from hopvec.cli.terminal import Terminal
from hopvec.errors import HopvecError, MemoryLimitError
from hopvec.machine import memory_limit, return_freed_memory

Function = Callable[..., Any]
Declared = Sequence[tuple[str, dict[str, Any]]]
"""Options: the flag of each, and its settings."""
METAVARS = ((click.types.IntParamType, "N"), (click.types.FloatParamType, "NUMBER"))


class Option(click.Option):
    """An option that belongs to a group of the help text."""

    def __init__(self, *arguments: Any, heading: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.heading = heading
        if self.metavar is None:
            self.metavar: str | None = next(
                (name for kind, name in METAVARS if isinstance(self.type, kind)), None
            )


class Command(click.Command):
    """A command whose help shows a description, examples, and options in groups."""

    examples: Sequence[str] = ()

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors of the library name options instead of Python arguments.

        A memory limit of the command line is one of the whole program.
        """
        if ctx.params.get("memory") is not None:
            _use_system_allocator()
        try:
            return super().invoke(ctx)
        except MemoryLimitError as error:
            limit = memory_limit(ctx.params.get("memory"))
            if error.shortage is not None and limit is not None:
                error = error.shortage.including_program(limit).error()
            error.args = (name_options(str(error), ctx),)
            raise error from None
        except HopvecError as error:
            error.args = (name_options(str(error), ctx),)
            raise

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage, the description, the examples and the options, in this order."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            indent = " " * formatter.current_indent
            formatter.write("".join(f"{indent}{example}\n" for example in self.examples))
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by group; the general options come last."""
        headings: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                headings.setdefault(heading(parameter), []).append(record)
        headings["General"] = headings.pop("General")
        for name, records in headings.items():
            with formatter.section(name):
                formatter.write_dl(records)


def _use_system_allocator() -> None:
    """Make Arrow allocate by malloc, which returns freed memory to the system.

    Its default allocator is faster, but keeps as much as 70 MB of batches that were read.
    """
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())


def heading(parameter: click.Parameter) -> str:
    """The group of an option; --help is a general option."""
    return getattr(parameter, "heading", "General")


def command(*, examples: Sequence[str]) -> Callable[[Function], Command]:
    """Turn a function into a command.

    Its docstring becomes the help text; its first argument is the Terminal.
    """

    def decorate(function: Function) -> Command:
        @wraps(function)
        def run(*, quiet: bool, verbose: bool, **given: Any) -> None:
            if quiet and verbose:
                raise click.UsageError("Give --quiet or --verbose, not both")
            return_freed_memory()
            report_truncated_maps()
            with Terminal(quiet=quiet, verbose=verbose) as terminal:
                function(terminal, **given)

        made = click.command(cls=Command)(_general_options(run))
        made.examples = examples
        return made

    return decorate


def option(
    *names: str, heading: str = "Options", **settings: Any
) -> Callable[[Function], Function]:
    """click.option with a group."""
    return click.option(*names, cls=Option, heading=heading, **settings)


def gathered_options(name: str, declared: Declared, heading: str) -> Callable[[Function], Function]:
    """Add options in one group; their values are passed as one dict with this name."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def gathered(*arguments: Any, **given: Any) -> None:
            values = {key: given.pop(key) for key in value_names(declared)}
            function(*arguments, **{name: values}, **given)

        decorated: Function = gathered
        for flag, settings in reversed(declared):
            decorated = option(flag, heading=heading, **settings)(decorated)
        return decorated

    return decorate


def given_options(*headings: str) -> list[str]:
    """The options of some groups that were given to the current command."""
    return [parameter.opts[0] for parameter, _ in _given(*headings)]


def given_arguments(*headings: str) -> str:
    """The same options with their values, ready to be pasted into another command line."""
    arguments: list[str] = []
    for parameter, value in _given(*headings):
        if isinstance(value, bool):
            arguments.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            text = ",".join(value) if isinstance(value, list) else str(value)
            arguments += [parameter.opts[0], quote(text)]
    return "".join(f" {argument}" for argument in arguments)


def _given(*headings: str) -> list[tuple[click.Parameter, Any]]:
    ctx = click.get_current_context()
    return [
        (parameter, ctx.params[str(parameter.name)])
        for parameter in ctx.command.params
        if heading(parameter) in headings
        and ctx.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
    ]


def value_names(declared: Declared) -> list[str]:
    """The Python names of options: label_column for --label-column, header for --header/..."""
    return [flag.removeprefix("--").partition("/")[0].replace("-", "_") for flag, _ in declared]


def _general_options(function: Function) -> Function:
    function = option(
        "--debug",
        is_flag=True,
        expose_value=False,  # read by the program, since parsing itself may fail
        help="Show the traceback of an error.",
        heading="General",
    )(function)
    for name, help_ in (("--verbose", "Print more details."), ("--quiet", "Print errors only.")):
        function = option(name, is_flag=True, help=help_, heading="General")(function)
    return function
