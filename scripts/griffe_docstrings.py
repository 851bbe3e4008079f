"""Prepares docstrings for the API reference; an extension of griffe, which mkdocstrings uses.

Griffe reads the source and does not run it. This extension adds what it cannot see there, or would
get wrong:

- Parameters sections that hopvec generates from declarations when a class is created
- the defaults of functions whose parameters are declared elsewhere
- docstrings that a method inherits
- functions with the name of their module, such as hopvec.datasets.load
- types that are no Python: {"sum", "first"}, array-like
"""

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import griffe

import hopvec

PARAMETER = re.compile(r"^( *\w+(?:, \w+)* : )(.*)$", re.MULTILINE)
CHOICES = re.compile(r"\{([^}]*)\}")


class Docstrings(griffe.Extension):
    """Docstrings as users see them in help()."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called when an object was read."""
        if obj.docstring is not None:
            obj.docstring.value = _readable_types(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Called when all of hopvec was read."""
        loader.resolve_aliases(implicit=True, external=False)
        for value in _public_values():
            if inspect.isfunction(value):
                _take_runtime_defaults(_read(pkg, value), value)
            elif "__signature__" in vars(value):
                _take_runtime_docstring(_read(pkg, value), value)
                for base in value.__mro__:
                    if base.__module__.startswith("hopvec."):
                        _inherit_docstrings(_read(pkg, base), base)
        for package in [*pkg.modules.values(), pkg]:
            if not package.is_alias:
                _prefer_functions(package)


def _public_values() -> Iterator[Any]:
    """The functions and classes of hopvec and of its public modules."""
    for value in (getattr(hopvec, name) for name in hopvec.__all__):
        values = vars(value).values() if isinstance(value, ModuleType) else [value]
        for each in values:
            of_hopvec = getattr(each, "__module__", "").startswith("hopvec.")
            if of_hopvec and (inspect.isclass(each) or inspect.isfunction(each)):
                yield each


def _read(pkg: griffe.Module, value: Any) -> Any:
    """What griffe read of a function or class."""
    return pkg[f"{value.__module__}.{value.__qualname__}".removeprefix("hopvec.")]


def _readable_types(docstring: str) -> str:
    """Write types in words: griffe takes the first choice as the default, and "-" as minus."""
    return PARAMETER.sub(lambda line: line[1] + _readable_type(line[2]), docstring)


def _readable_type(text: str) -> str:
    text = CHOICES.sub(lambda match: " or ".join(re.split(", *", match[1])), text)
    return text.replace("-like", "\N{NON-BREAKING HYPHEN}like")


def _take_runtime_docstring(cls: griffe.Class, documented: type) -> None:
    cls.docstring = _docstring(cls, documented, cls)
    kind = griffe.ParameterKind.keyword_only
    own = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
    for name, parameter in inspect.signature(documented).parameters.items():
        own.append(griffe.Parameter(name, kind=kind, default=_default(parameter)))
    cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*own)))


def _take_runtime_defaults(found: griffe.Function, function: Callable[..., object]) -> None:
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            found.parameters[name].default = _default(parameter)


def _default(parameter: inspect.Parameter) -> str | None:
    required = parameter.default is inspect.Parameter.empty
    return None if required else repr(parameter.default)


def _inherit_docstrings(cls: griffe.Class, documented: type) -> None:
    for name, member in cls.members.items():
        if member.is_function and member.docstring is None and not name.startswith("_"):
            member.docstring = _docstring(member, getattr(documented, name), cls)


def _docstring(parent: griffe.Object, value: Any, cls: griffe.Class) -> griffe.Docstring:
    """The docstring of a class or function at run time, parsed like that of its class."""
    options = {"parser": cls.docstring.parser, "parser_options": cls.docstring.parser_options}
    return griffe.Docstring(_readable_types(inspect.getdoc(value) or ""), parent=parent, **options)


def _prefer_functions(package: griffe.Module) -> None:
    """Let package.name be the function `name` of the module package/name.py, as in Python."""
    for name, path in package.imports.items():
        if not path.startswith(f"{package.path}.") or not package[name].is_module:
            continue
        function = package[path.removeprefix(f"{package.path}.")]
        if not function.is_module:
            package.set_member(name, griffe.Alias(name, function, parent=package))
