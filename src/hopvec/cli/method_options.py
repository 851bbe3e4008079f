"""The options of methods, derived from the parameters that they declare."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from hopvec.cli.command import Function, Option, option
from hopvec.cli.program import LIST
from hopvec.errors import FormatError
from hopvec.formats.graphs.input_file import wait_reported
from hopvec.machine import memory_limit
from hopvec.memory import data_limit
from hopvec.methods import METHODS, FastRP, Method, method_of
from hopvec.methods.parameters import (
    Directory,
    Either,
    Integer,
    OneOf,
    Parameter,
    Real,
    Reals,
    Rule,
    Size,
    parameters,
    parse,
)
from hopvec.methods.presets import PRESETS

DEFAULT_METHOD = "fastrp"
OPTION_HELP = {
    "memory": "memory limit of the whole program, such as 4GB; by default, the free memory"
}
"""The help of options that differ from the Python parameter of the same name."""


def format_value(value: Any) -> str:
    """A value as it is typed on the command line.

    >>> format_value((0.0, 1.0)), format_value(0.25), format_value("sqrt")
    ('0,1', '0.25', 'sqrt')
    """
    if isinstance(value, tuple | list):
        return ",".join(format_value(entry) for entry in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def method_options(function: Function, methods: Mapping[str, type[Method]] = METHODS) -> Function:
    """Add --method, --preset, --params and the parameters of methods; pass a `method`."""
    declared = declared_by(methods)

    @wraps(function)
    def gathered(
        *arguments: Any, method: str, preset: str | None, params: Path | None, **given: Any
    ) -> None:
        strings = {name: text for name in declared if (text := given.pop(name)) is not None}
        if preset is not None and params is not None:
            raise click.UsageError("Give --preset or --params, not both")
        if preset is not None:
            base: Method = _from_preset(preset, method)
        else:
            base = METHODS[method]() if params is None else _from_file(params, method)
        function(*arguments, method=_method(base, strings), **given)

    decorated: Function = gathered
    for name, owners in reversed(declared.items()):
        decorated = click.option(flag(name), cls=MethodOption, owners=owners)(decorated)
    decorated = option(
        "--params",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="JSON file of parameters, written by `hopvec tune` or --report; options given here "
        "override them.",
        heading="Method",
    )(decorated)
    decorated = option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        help="Preset of fastrp parameters (see `hopvec presets`); options given here override "
        "them.",
        heading="Method",
    )(decorated)
    return option(
        "--method",
        type=click.Choice(list(methods)),
        default=DEFAULT_METHOD,
        show_default=True,
        is_eager=True,  # parsed first, since --help depends on it
        help="Embedding method; with --help, shows the options of this method.",
        heading="Method",
    )(decorated)


def comparable_method_options(function: Function) -> Function:
    """The same for the methods whose embeddings can be compared with earlier ones."""
    return method_options(
        function, {name: kind for name, kind in METHODS.items() if kind._supports_like}
    )


def limit_data(method: Method) -> None:
    """Limit the data of a run, so that the whole program stays within the memory limit."""
    method.set_params(memory=data_limit(memory_limit(method.memory)))


class MethodOption(Option):
    """The option of a parameter; its help text depends on the selected method."""

    def __init__(self, *names: Any, owners: dict[str, Parameter], **settings: Any) -> None:
        first = next(iter(owners.values()))
        settings |= {"metavar": _metavar(first.rule), "help": _help(first), "heading": "Method"}
        super().__init__(*names, **settings)
        self.owners = owners

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with its help text; None if the selected method has no such parameter."""
        parameter = self.owners.get(ctx.params.get("method", DEFAULT_METHOD))
        if parameter is None:
            return None
        return f"{self.opts[0]} {_metavar(parameter.rule)}", _help(parameter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the values of a parameter with a list of choices."""
        parameter = self.owners.get(ctx.params.get("method", DEFAULT_METHOD))
        choices = _choices(parameter.rule) if parameter else []
        return [CompletionItem(choice) for choice in choices if choice.startswith(incomplete)]


def parameter_options(owner: type, heading: str) -> Callable[[Function], Function]:
    """Add the parameters of a class as options, passed as one dict `settings`."""
    declared = {parameter.name: parameter for parameter in parameters(owner)}

    def decorate(function: Function) -> Function:
        @wraps(function)
        def gathered(*arguments: Any, **given: Any) -> None:
            strings = {name: given.pop(name) for name in declared}
            settings = {
                name: parse(text, declared[name].rule)
                for name, text in strings.items()
                if text is not None
            }
            function(*arguments, settings=settings, **given)

        decorated: Function = gathered
        for parameter in reversed(declared.values()):
            decorated = parameter_option(parameter, heading)(decorated)
        return decorated

    return decorate


def parameter_option(parameter: Parameter, heading: str) -> Callable[[Function], Function]:
    """The option of a parameter; its value is passed as a string."""
    flags = dict.fromkeys((flag(parameter.name), flag(parameter.name.lower())))
    settings = {"metavar": _metavar(parameter.rule), "help": _help(parameter), "heading": heading}
    return option(*flags, parameter.name, **settings)


def flag(name: str) -> str:
    """The option of a parameter."""
    return "--" + name.replace("_", "-")


def _method(base: Method, strings: dict[str, str]) -> Method:
    """Set and check the parameters of a method. An option of another method is an error."""
    base.set_params(**parsed(f"The method {_name(base)}", type(base), strings))
    base._check()
    return base


def parsed(title: str, owner: type, strings: dict[str, str]) -> dict[str, Any]:
    """Parse options by the parameters of their owner; unknown options are an error."""
    known = {parameter.name: parameter.rule for parameter in parameters(owner)}
    for given in strings:
        if given not in known:
            raise click.UsageError(
                f"{title} has no {flag(given)}; it has {', '.join(map(flag, known))}"
            )
    return {given: parse(text, known[given]) for given, text in strings.items()}


def _from_preset(name: str, asked: str) -> FastRP:
    """The method of a preset; --method must agree."""
    if asked != DEFAULT_METHOD:
        raise click.UsageError(
            f"--preset applies to the method {DEFAULT_METHOD}, but --method is {asked}"
        )
    return FastRP.preset(name)


def _from_file(path: Path, asked: str) -> Method:
    """The method of a JSON file; --method must agree if it is given."""
    try:
        with wait_reported(path):  # it may be a named pipe
            content = json.loads(path.read_text(encoding="utf-8"))
        method = method_of(content["parameters"])
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(
            f"{path}: this is not a parameter file of `hopvec tune` or --report ({error})."
        ) from error
    source = click.get_current_context().get_parameter_source("method")
    if source is not ParameterSource.DEFAULT and asked != _name(method):
        raise click.UsageError(
            f"{path} has parameters of the method {_name(method)}, but --method is {asked}"
        )
    return method


def _name(method: Method) -> str:
    """The name of a method on the command line."""
    return next(name for name, kind in METHODS.items() if kind is type(method))


def declared_by(owners: Mapping[str, type]) -> dict[str, dict[str, Parameter]]:
    """The parameters of all owners by name; each maps its owners to their declaration."""
    declared: dict[str, dict[str, Parameter]] = {}
    for name, owner in owners.items():
        for parameter in parameters(owner):
            declared.setdefault(parameter.name, {})[name] = parameter
    return declared


def _help(parameter: Parameter) -> str:
    """The description, allowed values and default of a parameter."""
    remarks = [_allowed(parameter.rule)]
    if parameter.default is not None:
        remarks.append(f"default: {format_value(parameter.default)}")
    remark = "; ".join(filter(None, remarks))
    text = _capitalized(OPTION_HELP.get(parameter.name, parameter.help))
    return text + (f" [{remark}]" if remark else "")


def _allowed(rule: Rule) -> str:
    """The values that a rule allows, unless the metavar lists them already."""
    if isinstance(rule, OneOf | Directory):
        return ""
    if isinstance(rule, Either):
        return ", or ".join(filter(None, (_allowed(rule.first), _allowed(rule.second))))
    return rule.must().removeprefix("be ").removeprefix("hold ")


def _capitalized(text: str) -> str:
    """The text with a capital letter, unless it starts with a symbol of the paper."""
    return text if text[1:2] in (":", ",") else text[:1].upper() + text[1:]


def _metavar(rule: Rule) -> str:
    if isinstance(rule, Either):
        both = (_metavar(rule.first), _metavar(rule.second))
        return "|".join(name for name in both if name)
    if isinstance(rule, OneOf):
        return "|".join(_choices(rule))
    kinds: dict[type, str] = {
        Integer: "N",
        Real: "NUMBER",
        Reals: LIST,
        Size: "SIZE",
        Directory: "DIR",
    }
    return kinds.get(type(rule), "VALUE")


def _choices(rule: Rule) -> list[str]:
    """The choices that a rule lists."""
    if isinstance(rule, Either):
        return _choices(rule.first) + _choices(rule.second)
    return [str(o) for o in rule.options if o is not None] if isinstance(rule, OneOf) else []
