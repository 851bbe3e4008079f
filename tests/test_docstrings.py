"""A contract for the docstrings of all public names, and for the pages of the API reference."""

import dataclasses
import inspect
import re
import typing
from functools import cached_property
from pathlib import Path

import pytest

import hopvec

API = Path(__file__).parents[1] / "docs" / "api"
MODULES = ["hopvec.datasets", "hopvec.evaluate", "hopvec.spark", "hopvec.view"]
NOT_RUN = ("hopvec.datasets.get", "hopvec.spark.")  # need a download or a cluster


def public_names():
    """The public names by their full name, such as hopvec.evaluate.classify."""
    found = {f"hopvec.{name}": getattr(hopvec, name) for name in hopvec.__all__}
    for name in MODULES:
        module = found.pop(name, None) or pytest.importorskip(name)
        found |= {f"{name}.{each}": getattr(module, each) for each in module.__all__}
    return found


def members(name, cls):
    """The public methods and properties of a class that hopvec defines."""
    for attribute in dir(cls):
        owner = next((base for base in cls.__mro__ if attribute in vars(base)), None)
        if attribute.startswith("_") or not owner.__module__.startswith("hopvec"):
            continue
        value = inspect.getattr_static(cls, attribute)
        if isinstance(value, property | cached_property):
            yield f"{name}.{attribute}", value
        elif callable(getattr(cls, attribute)):
            yield f"{name}.{attribute}", getattr(cls, attribute)


NAMES = public_names()
CLASSES = {name: value for name, value in NAMES.items() if inspect.isclass(value)}
EVERYTHING = NAMES | {name: value for c in CLASSES.items() for name, value in members(*c)}
CALLABLE = {name: value for name, value in EVERYTHING.items() if callable(value)}
FUNCTIONS = {name: value for name, value in CALLABLE.items() if not inspect.isclass(value)}


def sections(value):
    """The sections of a numpydoc docstring by title; the text before the first is "Summary"."""
    found, title = {"Summary": []}, "Summary"
    lines = [*(inspect.getdoc(value) or "").splitlines(), ""]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following and line and set(following) == {"-"}:
            title = line
            found[title] = []
        elif not line or set(line) != {"-"}:
            found[title].append(line)
    return found


def listed(value, title):
    """The names in a section such as Parameters; one line may list several."""
    entries = [line for line in sections(value).get(title, []) if line and not line[0].isspace()]
    names = [name for line in entries for name in line.partition(" : ")[0].split(", ")]
    return [name.lstrip("*") for name in names]


def parameters(value):
    """The names of the parameters of a function or class."""
    found = []
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            hints = typing.get_type_hints(value, include_extras=True)[parameter.name]
            found += typing.get_args(hints)[0].__annotations__
        elif parameter.name not in ("self", "cls") and not parameter.name.startswith("_"):
            found.append(parameter.name)
    return found


def each(values):
    return pytest.mark.parametrize("value", values.values(), ids=values)


@each(EVERYTHING)
def test_the_summary_is_one_line_that_ends_with_a_period(value):
    summary, *rest = sections(value)["Summary"]
    assert summary.endswith(".")
    assert not rest or not rest[0]


@each(CALLABLE)
def test_all_parameters_are_documented_and_no_others(value):
    if inspect.isclass(value) and issubclass(value, Exception):
        return
    documented, expected = listed(value, "Parameters"), parameters(value)
    attributes = listed(value, "Attributes") if inspect.isclass(value) else []
    assert set(documented) <= set(expected)
    assert set(expected) <= {*documented, *attributes}
    assert len(documented) == len(set(documented))


@each(CLASSES)
def test_documented_attributes_exist(value):
    record = dataclasses.is_dataclass(value)
    fields = {field.name for field in dataclasses.fields(value)} if record else set()
    assert all(name in fields or hasattr(value, name) for name in listed(value, "Attributes"))


@each(FUNCTIONS)
def test_what_a_function_returns_is_documented(value):
    returns = inspect.signature(value).return_annotation not in (None, "None")
    assert bool({"Returns", "Yields"} & sections(value).keys()) == returns


@pytest.mark.parametrize("name", CALLABLE)
def test_every_function_method_and_class_has_an_example_that_runs(name):
    example = sections(CALLABLE[name]).get("Examples", [])
    assert any(line.startswith(">>> ") for line in example)
    if not name.startswith(NOT_RUN):
        assert not any("doctest: +SKIP" in line for line in example)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_in_the_api_reference_once(name):
    pages = [page.read_text(encoding="utf-8") for page in API.glob("*.md")]
    assert sum(len(re.findall(rf"^::: {re.escape(name)}$", page, re.M)) for page in pages) == 1


def test_dir_shows_the_public_names_only():
    hopvec.FastRP, hopvec.tune  # noqa: B018  (loads modules)
    shown = [name for name in dir(hopvec) if not re.fullmatch("__.*__", name)]
    assert shown == sorted(hopvec.__all__)
