"""The search space: its syntax, its points and invalid spaces."""

import math

import numpy as np
import pytest

from hopvec import ParameterError
from hopvec.methods import METHODS, Node2Vec
from hopvec.tuning.space import Choices, Range, Space
from one_pass import one_pass


def dimensions(**given):
    return Space(one_pass(), given).dimensions


def points_of(space):
    return [space.grid_point(number) for number in range(space.grid_size())]


class TestSyntax:
    @pytest.mark.parametrize(
        ("text", "dimension"),
        [
            ("-1:0", Range(-1, 0)),
            (" -0.5 : 0.25", Range(-0.5, 0.25)),
            ("-1:0:0.1", Range(-1, 0, step=0.1)),
            ("0.1,0.2", Choices((0.1, 0.2))),
            ("0.5", Choices((0.5,))),
        ],
    )
    def test_numbers(self, text, dimension):
        assert dimensions(beta=text) == {"beta": dimension}

    def test_logarithmic_ranges(self):
        assert dimensions(sparsity="log:1:1e3") == {"sparsity": Range(1, 1000.0, log=True)}

    def test_strings_and_numbers(self):
        assert dimensions(sparsity="sqrt,3") == {"sparsity": Choices(("sqrt", 3))}
        assert dimensions(normalize="authors,full") == {"normalize": Choices(("authors", "full"))}

    def test_an_entry_of_a_list(self):
        space = Space(one_pass(weights=(0, 0, 1, 4)), {"weights.4": "log:0.125:64"})
        assert space.dimensions == {"weights.4": Range(0.125, 64, log=True)}
        assert space.method({"weights.4": 2.5}).weights == [0, 0, 1, 2.5]

    def test_a_whole_list(self):
        space = Space(one_pass(), {"weights": "0, 0,1,log:0.125:64,0:2"})
        assert space.dimensions == {
            "weights.4": Range(0.125, 64, log=True),
            "weights.5": Range(0, 2),
        }
        assert space.method({"weights.4": 7.0, "weights.5": 1.5}).weights == [0, 0, 1, 7.0, 1.5]

    @pytest.mark.parametrize("text", ["-1:0", "-1:0:0.25", "0.1,0.2"])
    def test_strings_are_parsed_back(self, text):
        shown = Space(one_pass(), {"beta": text}).to_strings()["beta"]
        assert dimensions(beta=shown) == dimensions(beta=text)


class TestValues:
    def test_python_ranges_and_lists_are_accepted(self):
        given = {"beta": Range(-1, 1), "weights": [(0, 0, 1), np.array([0, 1])]}
        space = Space(one_pass(), given)
        assert space.dimensions == {"beta": Range(-1, 1), "weights": Choices(([0, 0, 1], [0, 1]))}
        assert space.method({"beta": 0.5, "weights": [0, 1]}).get_params() == (
            one_pass(beta=0.5, weights=[0, 1]).get_params()
        )

    def test_other_parameters_are_those_of_the_method(self):
        method = Space(one_pass(dim=32, seed=9), {"beta": "-1:0"}).method({"beta": -0.5})
        assert (method.dim, method.seed, method.beta) == (32, 9, -0.5)

    def test_dim_is_an_integer_and_beta_is_not(self):
        space = Space(
            one_pass(weights=[1] * 4), {"dim": "16:64:16", "beta": "0:1", "weights.4": "0:1"}
        )
        assert [space.is_integer(name) for name in space.dimensions] == [True, False, False]


class TestPoints:
    def test_in_a_grid_the_last_dimension_varies_fastest(self):
        space = Space(one_pass(), {"beta": "0:1:0.5", "normalize": "authors,full"})
        assert [tuple(point.values()) for point in points_of(space)] == [
            (beta, normalize) for beta in (0, 0.5, 1) for normalize in ("authors", "full")
        ]

    def test_a_step_of_a_tenth_reaches_the_end(self):
        space = Space(one_pass(), {"beta": Range(-1, 0, step=0.1)})
        assert np.allclose([point["beta"] for point in points_of(space)], np.linspace(-1, 0, 11))

    def test_the_last_points_of_a_large_grid(self):
        space = Space(one_pass(), {"beta": "0:1:1e-6", "normalize": "authors,full"})
        assert space.grid_size() == 2_000_002
        assert space.grid_point(2_000_000) == {"beta": 1.0, "normalize": "authors"}

    @pytest.mark.parametrize("step", ["1e-17", "1e-320"])
    def test_a_step_that_floats_cannot_resolve_is_refused(self, step):
        with pytest.raises(ParameterError, match=f"cannot have a step of {float(step):g}"):
            Space(one_pass(), {"beta": f"0:1:{step}"})

    def test_a_range_without_a_step_has_no_points(self):
        with pytest.raises(ParameterError, match=r"beta is any number in -1:0\. Give it a step"):
            Space(one_pass(), {"beta": "-1:0"}).grid_size()


class TestEnds:
    @pytest.mark.parametrize(
        ("range_", "value", "beyond"),
        [
            (Range(-1, 1), 0.99, 1.04),
            (Range(-1, 1), -1, -1.04),
            (Range(-1, 1), 0.9, None),
            (Range(1, math.e**10, log=True), 1.1, math.exp(-0.2)),
            (Range(1, math.e**10, log=True), math.exp(5), None),
        ],
    )
    def test_only_a_value_at_an_end_has_a_value_beyond_it(self, range_, value, beyond):
        assert range_._beyond(value) == (None if beyond is None else pytest.approx(beyond))


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"gamma": "0:1"}, r"FastRP has no parameter 'gamma'; it has dim, weights, beta,"),
            ({"beta": "-2:0"}, r"FastRP: beta must be a number from -1 to 1, got -2\."),
            ({"beta": "0:3"}, r"FastRP: beta must be a number from -1 to 1, got 3\."),
            ({"beta": "0:half"}, r"beta must be a Range, .* such as '-1:0'.*, got '0:half'"),
            (
                {"beta": "1:0"},
                r"the range 1:0 of beta is invalid: low must be below high, and 1 is not below 0\.",
            ),
            ({"beta": "0:nan"}, r"low, high and step must be finite numbers"),
            ({"beta": "log:0:1"}, r"a logarithmic range must be above 0, and it begins at 0"),
            ({"beta": "0:1:2"}, r"it cannot have a step of 2"),
            ({"beta": (-1, 0, 5)}, r"beta must be a number from -1 to 1, got 5"),
            ({"beta": {}}, r"beta must be a Range, a list of values, or a string .*, got \{\}"),
            ({"normalize": "authors,none,half"}, r"normalize must be 'none' or .*, got 'half'"),
            ({"beta.2": "0:1"}, r"beta is not a list, so it has no entry beta\.2"),
            (
                {"weights.x": "0:1"},
                r"weights\.x is not an entry of a list\. Entries are numbered from 1",
            ),
            ({"weights": "0,1:2", "weights.2": "0:1"}, r"weights\.2 is given twice"),
            ({"weights": [[0, 1]], "weights.2": "0:1"}, r"weights\.2 is given twice"),
            ({"weights.7": "0:1"}, r"weights is 'auto'\. Give the whole list"),
            ({"weights": "0,0,x,0:1"}, r"weights must be 'auto', or hold .*entry 3 is x"),
            ({"weights": "0,0,1"}, r"there is nothing to search for FastRP"),
            ({"dim": "16:64:0.5"}, r"dim is an integer, so its step must be an integer"),
            ({"dim": "16.5:64"}, r"FastRP: dim must be an integer .*, got 16\.5"),
            ({"seed": "0:9"}, r"seed cannot be searched, since its best value would be chance"),
            (
                {"threads": "1,2"},
                r"threads cannot be searched, since it does not change the vectors",
            ),
            ({}, r"there is nothing to search for FastRP"),
        ],
    )
    def test_the_message_names_the_problem(self, given, message):
        with pytest.raises(ParameterError, match=message):
            Space(one_pass(), given)


@pytest.mark.parametrize("name", METHODS)
def test_the_default_space_of_every_method_is_valid(name):
    method = METHODS[name]()
    if method.search_space:
        assert Space(method, method.search_space).dimensions


def test_the_spaces_of_the_paper():
    assert Space(one_pass(), one_pass().search_space).dimensions == {
        "beta": Range(-1, 0),
        "weights.4": Range(2**-3, 2**6, log=True),
    }
    assert Space(one_pass(), one_pass().search_space).base.weights[:3] == [0, 0, 1]
    grid = points_of(Space(Node2Vec(), Node2Vec().search_space))
    assert {(point["p"], point["q"]) for point in grid} == {
        (p, q) for p in (0.25, 0.5, 1, 2, 4) for q in (0.25, 0.5, 1, 2, 4)
    }
