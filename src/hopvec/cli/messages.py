"""name_options: messages of the library in the terms of the command line.

The library names Python arguments: `source=`, `duplicates='sum'`, `symmetrize=True`. A command that
has these options prints `--source`, `--duplicates sum` and `--symmetrize` instead, and leaves out
the name of the Python function that failed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from hopvec.errors import HopvecError

CALL = r"\b\w[\w.]*\([^()]*\)"  # Python code, such as Graph.from_scipy(matrix, directed=True)
VALUE = r"""'[^']*'|"[^"]*"|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|True\b|False\b|-?\d[\d.]*(?<!\.)|"""
ARGUMENT = re.compile(rf"(?P<call>{CALL})|(?<![\w.-])(?P<name>[A-Za-z_]\w*)=(?P<value>{VALUE})")
FUNCTION = re.compile(
    r"(^|: )(?:classify|draw_map|embed_snapshots|evaluate_recommendation|hold_out|nearest|"
    r"predict_links|read_graph|read_links|read_sql|recommend|score_pairs): (\w?)"
)
OTHER_NAMES = {"connected=False": "any_edges=True"}
"""Arguments whose options have another name."""
OTHER_COMMANDS = {
    "like": "hopvec embed --like",
    "memory": "hopvec embed --memory",
    "node_type": "hopvec embed --node-type",
    "prefixes": "hopvec embed --prefixes",
}
"""Arguments that are options of another command only."""


def name_options(message: str, ctx: click.Context | None = None) -> str:
    """Replace Python arguments in a message by options of the current command."""
    ctx = ctx or click.get_current_context(silent=True)
    if ctx is None:
        return message
    parameters = {str(parameter.name): parameter for parameter in ctx.command.params}

    def option(match: re.Match[str]) -> str:
        found = match if match["call"] else ARGUMENT.match(OTHER_NAMES.get(match[0], match[0]))
        if found is None or found["call"]:
            return match[0]
        if found["name"] not in parameters:
            return OTHER_COMMANDS.get(found["name"], match[0]) if not found["value"] else match[0]
        return _typed(parameters[found["name"]], found["value"]) or match[0]

    return _without_function(ARGUMENT.sub(option, _by_option(message, ctx, parameters)))


@contextmanager
def renamed_argument(name: str, other: str) -> Iterator[None]:
    """Rename an argument in the errors of a block, if its option has another name."""
    try:
        yield
    except HopvecError as error:
        error.args = (re.sub(rf"\b{name}=", f"{other}=", str(error)),)
        raise


def _by_option(message: str, ctx: click.Context, parameters: Mapping[str, click.Parameter]) -> str:
    """A message on a value ("FastRP: dim must be ...") names the option that was given.

    A value that does not come from an option, but from a file or a preset, keeps its name.
    """
    found = re.match(r"[A-Za-z_]\w*: (\w+)(?= must )", message)
    if found is None or ctx.get_parameter_source(found[1]) is not ParameterSource.COMMANDLINE:
        return message
    return _flag(parameters[found[1]]) + message[found.end() :].replace(", or be None", "")


def _without_function(message: str) -> str:
    """Remove the name of a Python function, at the start or after a file.

    >>> _without_function("hold_out: the graph has no edges.")
    'The graph has no edges.'
    >>> _without_function("vectors.npy: classify: a share of 0.1 ...")
    'vectors.npy: a share of 0.1 ...'
    """
    return FUNCTION.sub(
        lambda match: match[1] + match[2] if match[1] else match[2].upper(), message, 1
    )


def _typed(parameter: click.Parameter, value: str) -> str | None:
    """An option with a value as one would type it; None if there is no way to type it."""
    if isinstance(parameter, click.Argument):
        return None if value else parameter.human_readable_name
    flag = _flag(parameter)
    if not value:
        return flag
    try:
        plain = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # a placeholder, such as (...)
        return None
    if isinstance(plain, bool):
        return flag if plain else next(iter(parameter.secondary_opts), None)
    return f"{flag} {_plain(plain)}"


def _plain(value: Any) -> str:
    """A value of an option.

    >>> _plain(["user:", "item:"]), _plain({"dim": "64:256:64"}), _plain("")
    ('user:,item:', 'dim=64:256:64', "''")
    """
    if isinstance(value, Mapping):
        return " ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return quote(",".join(map(str, value)))
    return quote(str(value))


def _flag(parameter: click.Parameter) -> str:
    """The long form of an option."""
    return max(parameter.opts, key=len)
