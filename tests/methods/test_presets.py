"""Presets: sets of parameters that have a name."""

import pytest

from example_graphs import example, path
from hopvec import FastRP, ParameterError
from hopvec.methods.presets import PRESETS


def test_there_are_these():
    assert list(PRESETS) == ["balanced", "fast", "best", "social", "paper", "authors", "neo4j"]


@pytest.mark.parametrize("name", PRESETS)
def test_each_can_be_used_and_has_a_help(name):
    method = FastRP.preset(name, dim=8, seed=3)
    assert method.embed(example(path(9), 9).graph()).vectors.shape == (9, 8)
    assert len(PRESETS[name].help) > 20


@pytest.mark.parametrize("name", PRESETS)
def test_each_holds_only_what_differs_from_the_defaults(name):
    defaults = FastRP().get_params()
    assert all(defaults[key] != value for key, value in PRESETS[name].parameters.items())


def test_balanced_is_the_default():
    assert FastRP.preset("balanced").get_params() == FastRP().get_params()


def test_what_is_given_overrides_the_preset():
    method = FastRP.preset("best", dim=64, oversample=2)
    assert (method.dim, method.oversample, len(method.weights)) == (64, 2, 10)


def test_the_paper_is_the_preset_of_that_name():
    assert FastRP.paper().get_params() == FastRP.preset("paper").get_params()


def test_that_of_neo4j_has_its_documented_defaults():
    method = FastRP.preset("neo4j")
    assert (method.weights, method.beta, method.sparsity, method.self_weight) == (
        (0, 1, 1),
        0,
        3,
        0,
    )
    assert (method.normalize, method.oversample) == ("orders", 1)


def test_an_unknown_one_is_refused_with_those_that_there_are():
    with pytest.raises(ParameterError) as error:
        FastRP.preset("fastest")
    assert str(error.value) == (
        "There is no preset 'fastest'; the presets are balanced, fast, best, social, paper, "
        "authors, neo4j."
    )


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ParameterError, match="has no parameter 'dims'"):
        FastRP.preset("best", dims=4)
