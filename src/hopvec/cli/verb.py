"""What every verb has: its examples in the help, grouped options, --quiet, --verbose, --debug."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from hopvec.cli.terminal import Terminal
from hopvec.errors import ParameterError
from hopvec.machine import return_freed_memory

Function = Callable[..., Any]
Declared = Sequence[tuple[str, dict[str, Any]]]
"""Options: the flag of each, and its settings."""


class Option(click.Option):
    """An option with the heading it stands under in the help."""

    def __init__(self, *arguments: Any, heading: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.heading = heading


class Verb(click.Command):
    """A command whose help teaches: what it does, examples, then options under headings."""

    examples: Sequence[str] = ()

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The parts in the order a reader wants them."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            indent = " " * formatter.current_indent
            formatter.write("".join(f"{indent}{example}\n" for example in self.examples))
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under their headings, those that all verbs have last."""
        headings: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                headings.setdefault(heading(parameter), []).append(record)
        headings["General"] = headings.pop("General")
        for name, records in headings.items():
            with formatter.section(name):
                formatter.write_dl(records)


def heading(parameter: click.Parameter) -> str:
    """The heading of an option; --help stands with those that all verbs have."""
    return getattr(parameter, "heading", "General")


def verb(*, examples: Sequence[str]) -> Callable[[Function], Verb]:
    """Makes a verb of a function; its docstring is the help, its first argument the Terminal."""

    def decorate(function: Function) -> Verb:
        @wraps(function)
        def run(*, quiet: bool, verbose: bool, **given: Any) -> None:
            if quiet and verbose:
                raise click.UsageError("Give --quiet or --verbose, not both")
            return_freed_memory()
            with Terminal(quiet=quiet, verbose=verbose) as terminal:
                try:
                    function(terminal, **given)
                except ParameterError as error:
                    raise ParameterError(_by_option(str(error))) from error

        command = click.command(cls=Verb)(_general_options(run))
        command.examples = examples
        return command

    return decorate


def option(
    *names: str, heading: str = "Options", **settings: Any
) -> Callable[[Function], Function]:
    """click.option with a heading."""
    return click.option(*names, cls=Option, heading=heading, **settings)


def gathered_options(name: str, declared: Declared, heading: str) -> Callable[[Function], Function]:
    """Adds options under one heading; their values arrive as one dict of that name."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def gathered(*arguments: Any, **given: Any) -> None:
            values = {word: given.pop(word) for word in value_names(declared)}
            function(*arguments, **{name: values}, **given)

        decorated: Function = gathered
        for flag, settings in reversed(declared):
            decorated = option(flag, heading=heading, **settings)(decorated)
        return decorated

    return decorate


def given_options(*headings: str) -> list[str]:
    """The options under some headings that stand on the command line of the running verb."""
    return [parameter.opts[0] for parameter, _ in _given(*headings)]


def given_arguments(*headings: str) -> str:
    """The same with their values, as they may stand on another command line."""
    words: list[str] = []
    for parameter, value in _given(*headings):
        if isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            text = ",".join(value) if isinstance(value, list) else str(value)
            words += [parameter.opts[0], quote(text)]
    return "".join(f" {word}" for word in words)


def _given(*headings: str) -> list[tuple[click.Parameter, Any]]:
    ctx = click.get_current_context()
    return [
        (parameter, ctx.params[str(parameter.name)])
        for parameter in ctx.command.params
        if heading(parameter) in headings
        and ctx.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
    ]


def _by_option(sentence: str) -> str:
    """A sentence on the parameter of a function, by the option that was typed for it, if any was.

    Methods keep their names: their parameters may come from elsewhere.
    """
    words = re.match(r"[a-z_]+: (\w+)(?= must )", sentence)
    ctx = click.get_current_context()
    for parameter in ctx.command.params if words else ():
        typed = ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        if words and typed and parameter.name == words[1] and isinstance(parameter, click.Option):
            return parameter.opts[0] + sentence[words.end() :]
    return sentence


def value_names(declared: Declared) -> list[str]:
    """The names of the values of options: label_column of --label-column, header of --header/..."""
    return [flag.removeprefix("--").partition("/")[0].replace("-", "_") for flag, _ in declared]


def _general_options(function: Function) -> Function:
    function = option(
        "--debug",
        is_flag=True,
        expose_value=False,  # the program looks for it, since a verb may fail before it runs
        help="Show the traceback of an error.",
        heading="General",
    )(function)
    for name, help_ in (
        ("--verbose", "Tell more on the way."),
        ("--quiet", "Tell nothing but errors."),
    ):
        function = option(name, is_flag=True, help=help_, heading="General")(function)
    return function
