"""Presets: named sets of parameters."""

import pytest

from example_graphs import example, path
from hopvec import FastRP, ParameterError
from hopvec.methods.presets import PRESETS


def test_the_presets_are_these():
    assert list(PRESETS) == ["balanced", "fast", "best", "links", "paper", "authors", "neo4j"]


@pytest.mark.parametrize("name", PRESETS)
def test_each_is_valid_and_has_a_help_text(name):
    method = FastRP.preset(name, dim=8, seed=3)
    assert method.embed(example(path(9), 9).graph()).vectors.shape == (9, 8)
    assert len(PRESETS[name].help) > 20


@pytest.mark.parametrize("name", PRESETS)
def test_each_holds_only_what_differs_from_the_defaults(name):
    defaults = FastRP().get_params()
    assert all(defaults[key] != value for key, value in PRESETS[name].parameters.items())


def test_balanced_is_the_default():
    assert FastRP.preset("balanced").get_params() == FastRP().get_params()


def test_parameters_override_the_preset():
    method = FastRP.preset("best", dim=64, oversample=4)
    assert (method.dim, method.oversample, method.passes, len(method.weights)) == (64, 4, 6, 10)


def test_fastrp_paper_is_the_preset_paper():
    assert FastRP.paper().get_params() == FastRP.preset("paper").get_params()


def test_neo4j_has_the_documented_defaults_of_gds():
    method = FastRP.preset("neo4j")
    assert (method.weights, method.beta, method.sparsity, method.self_weight) == (
        (0, 1, 1),
        0,
        3,
        0,
    )
    assert (method.normalize, method.oversample) == ("orders", 1)


def test_an_unknown_preset_is_rejected_with_the_valid_ones():
    with pytest.raises(ParameterError) as error:
        FastRP.preset("fastest")
    assert str(error.value) == (
        "There is no preset 'fastest'; the presets are balanced, fast, best, links, paper, "
        "authors, neo4j."
    )


def test_an_unknown_parameter_is_rejected():
    with pytest.raises(ParameterError, match="has no parameter 'dims'"):
        FastRP.preset("best", dims=4)
