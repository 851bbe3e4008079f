"""The options of methods are their declared parameters, no more and no fewer."""

from dataclasses import dataclass
from typing import Annotated

import click
import pytest
from click.testing import CliRunner

from hopvec import FastRP
from hopvec.cli.command import value_names
from hopvec.cli.embed import embed
from hopvec.cli.estimate import estimate
from hopvec.cli.inputs import OPTIONS
from hopvec.cli.method_options import OPTION_HELP, flag, method_options
from hopvec.cli.tune import tune
from hopvec.methods import METHODS
from hopvec.methods.parameters import Integer, parameters

OF_ALL = {p.name for method in METHODS.values() for p in parameters(method)}


@dataclass(kw_only=True, eq=False, repr=False)
class Walks(FastRP):
    """A method with an additional parameter."""

    walks: Annotated[int, Integer(1, 100), "walks from each node"] = 10
    dim: Annotated[int, Integer(1, 1000), "columns of the embedding"] = 128


@pytest.fixture
def two_methods(monkeypatch):
    """Runs a command with the options of two methods and returns the method it got."""
    monkeypatch.setitem(METHODS, "walks", Walks)
    got = []
    command = click.command()(method_options(lambda method: got.append(method)))

    def run(*arguments):
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
        if result.exception:
            raise result.exception
        return got[-1] if got else result

    return run


@pytest.mark.parametrize("command", [embed, estimate, tune], ids=lambda command: command.name)
def test_the_options_are_the_parameters_of_all_methods(command):
    under = {p.name for p in command.params if getattr(p, "heading", "") == "Method"}
    assert under == OF_ALL | {"method", "params", "preset"}


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_has_its_option_with_help_and_default(name):
    options = {p.name: p for p in embed.params}
    context = click.Context(embed)
    context.params["method"] = name
    for parameter in parameters(METHODS[name]):
        option = options[parameter.name]
        assert option.opts == [flag(parameter.name)]
        help_ = option.get_help_record(context)[1]
        assert OPTION_HELP.get(parameter.name, parameter.help)[1:] in help_
        if isinstance(parameter.default, str | int):
            assert f"default: {parameter.default}]" in help_


def test_no_parameter_has_the_name_of_an_input_option():
    assert not OF_ALL & set(value_names(OPTIONS))


def test_only_given_options_are_set(two_methods):
    method = two_methods("--beta", "-0.9", "--weights", "0,1")
    assert repr(method) == "FastRP(weights=[0, 1], beta=-0.9)"


def test_the_method_is_chosen_by_name(two_methods):
    assert repr(two_methods("--method", "walks", "--walks", "3")) == "Walks(walks=3)"


def test_an_option_of_another_method_is_rejected(two_methods):
    with pytest.raises(click.UsageError, match="The method fastrp has no --walks; it has --dim, "):
        two_methods("--walks", "3")


def test_the_help_shows_the_options_of_the_chosen_method(two_methods):
    text = " ".join(two_methods("--method", "walks", "--help").stdout.split())
    assert "--walks N Walks from each node [an integer from 1 to 100; default: 10]" in text
    assert "--dim N Columns of the embedding [an integer from 1 to 1,000; default: 128]" in text
    text = " ".join(two_methods("--help").stdout.split())
    assert "--dim N Columns of the embedding (paper: d) [an integer from 1 to 65,536" in text
    assert "--walks" not in text


def test_a_value_is_parsed_by_the_rule_of_the_chosen_method(two_methods, monkeypatch):
    arguments = ["--beta", "1e-1"]
    assert two_methods(*arguments).beta == 0.1
    assert two_methods("--method", "walks", *arguments).beta == 0.1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--beta", "3"], "--beta must be a number from -1 to 1, got 3."),
        (["--beta", "x"], "--beta must be a number from -1 to 1, got 'x'."),
        (["--dim", "1.5"], "--dim must be an integer from 1 to 65,536, got 1.5."),
        (
            ["--weights", "0,nan"],
            "--weights must be 'auto', or hold 1 to 32 finite numbers, got [0, nan] "
            "(entry 2 is nan).",
        ),
        (
            ["--normalize", "x"],
            "--normalize must be 'none' or 'orders' or 'authors' or 'full', got 'x'.",
        ),
    ],
)
def test_an_invalid_value_is_rejected_before_the_graph_is_read(run, arguments, sentence):
    result = run("embed", "absent.csv", "-o", "vectors.npz", *arguments)
    assert (result.exit_code, result.stderr) == (2, sentence + "\n")


def test_commas_are_suggested_for_numbers_separated_by_spaces(run, edges):
    for arguments in (
        [edges, "-o", "vectors.npz", "--weights", "0", "0", "1", "1"],
        ["-o", "vectors.npz", "--weights", "0", "0", "1", "1", edges],
    ):
        result = run("embed", *arguments)
        assert result.exit_code == 2
        assert "Put commas between numbers: --weights 0,0,1,1." in result.stderr


def test_an_invalid_combination_is_rejected_before_the_graph_is_read(run):
    result = run("embed", "absent.csv", "-o", "vectors.npz", "--weights", "0")
    assert result.exit_code == 2
    assert "weights are all zero" in result.stderr
