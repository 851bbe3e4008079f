"""Prepares docstrings for the API reference; an extension of griffe, which mkdocstrings uses.

Griffe reads the source and does not run it. This extension adds what it cannot see there, or would
get wrong:

- the Parameters sections of methods, which hopvec generates when their classes are created
- functions with the name of their module, such as hopvec.datasets.load
- types that are no Python: {"sum", "first"}, array-like
"""

import inspect
import re
from typing import Any

import griffe

import hopvec.methods

PARAMETER = re.compile(r"^( *\w+(?:, \w+)* : )(.*)$", re.MULTILINE)
CHOICES = re.compile(r"\{([^}]*)\}")


class Docstrings(griffe.Extension):
    """Docstrings as users see them in help()."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called when an object was read."""
        if obj.docstring is not None:
            obj.docstring.value = _readable_types(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Called when all of hopvec was read."""
        loader.resolve_aliases(implicit=True, external=False)
        for method in hopvec.methods.METHODS.values():
            _take_runtime_docstring(_class_of(pkg, method), method)
            for base in method.__mro__:
                if base.__module__.startswith("hopvec."):
                    _inherit_docstrings(_class_of(pkg, base), base)
        for package in [*pkg.modules.values(), pkg]:
            if not package.is_alias:
                _prefer_functions(package)


def _class_of(pkg: griffe.Module, method: type) -> griffe.Class:
    return pkg[f"{method.__module__}.{method.__name__}".removeprefix("hopvec.")]


def _readable_types(docstring: str) -> str:
    """Write types in words: griffe takes the first choice as the default, and "-" as minus."""
    return PARAMETER.sub(lambda line: line[1] + _readable_type(line[2]), docstring)


def _readable_type(text: str) -> str:
    text = CHOICES.sub(lambda match: " or ".join(match[1].split(", ")), text)
    return text.replace("-like", "\N{NON-BREAKING HYPHEN}like")


def _take_runtime_docstring(cls: griffe.Class, method: type) -> None:
    text = _readable_types(inspect.getdoc(method) or "")
    options = {"parser": cls.docstring.parser, "parser_options": cls.docstring.parser_options}
    cls.docstring = griffe.Docstring(text, parent=cls, **options)
    kind = griffe.ParameterKind.keyword_only
    own = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
    for name, parameter in inspect.signature(method).parameters.items():
        own.append(griffe.Parameter(name, kind=kind, default=repr(parameter.default)))
    cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*own)))


def _inherit_docstrings(cls: griffe.Class, method: type) -> None:
    for name, member in cls.members.items():
        if member.is_function and member.docstring is None and not name.startswith("_"):
            text = _readable_types(inspect.getdoc(getattr(method, name)) or "")
            member.docstring = griffe.Docstring(
                text,
                parent=member,
                parser=cls.docstring.parser,
                parser_options=cls.docstring.parser_options,
            )


def _prefer_functions(package: griffe.Module) -> None:
    """Let package.name be the function `name` of the module package/name.py, as in Python."""
    for name, path in package.imports.items():
        if not path.startswith(f"{package.path}.") or not package[name].is_module:
            continue
        function = package[path.removeprefix(f"{package.path}.")]
        if not function.is_module:
            package.set_member(name, griffe.Alias(name, function, parent=package))
