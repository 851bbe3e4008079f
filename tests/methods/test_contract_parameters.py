"""Tests of the parameters that every method must pass."""

import copy
import hashlib
import pickle

import pytest

from example_graphs import example, path, random_example
from hopvec import HopvecError, ParameterError
from hopvec.methods import METHODS
from hopvec.methods.parameters import parameters
from method_variants import QUICK, every_method

PLAIN = random_example(530, 1900, seed=2, isolated=5)


@every_method
class TestParameters:
    def test_get_params_returns_what_was_given(self, name):
        declared = {parameter.name: parameter.default for parameter in parameters(METHODS[name])}
        assert METHODS[name]().get_params() == declared
        assert METHODS[name](seed=3, threads=2).get_params() == declared | {"seed": 3, "threads": 2}

    def test_set_params_changes_and_returns_the_method(self, name):
        method = METHODS[name]()
        assert method.set_params(seed=9) is method
        assert method.get_params()["seed"] == 9

    def test_set_params_rejects_an_unknown_name_and_lists_the_valid_ones(self, name):
        with pytest.raises(
            ParameterError, match=r"has no parameter 'sed'; its parameters are .*seed"
        ):
            METHODS[name]().set_params(sed=1)

    def test_the_constructor_rejects_an_unknown_name(self, name):
        with pytest.raises(TypeError, match="sed"):
            METHODS[name](sed=1)

    def test_every_parameter_rejects_invalid_values(self, name):
        graph = example(path(3), 3).graph()
        for parameter in parameters(METHODS[name]):
            for wrong in (object(), float("nan"), {"a": 1}):
                method = METHODS[name](**{parameter.name: wrong})
                with pytest.raises(ParameterError) as error:
                    method.embed(graph)
                owner = f"{METHODS[name].__name__}: {parameter.name} must {parameter.rule.must()}"
                assert str(error.value).startswith(owner)

    def test_every_default_is_valid_and_every_parameter_has_a_help_text(self, name):
        for parameter in parameters(METHODS[name]):
            assert parameter.rule.fault(parameter.default) is None
            assert len(parameter.help) > 5

    def test_errors_are_hopvec_errors(self, name):
        with pytest.raises(HopvecError):
            METHODS[name](seed=-1).embed(example(path(3), 3).graph())

    def test_the_constructor_checks_nothing(self, name):
        METHODS[name](seed=-1)  # invalid, but not checked yet

    def test_repr_shows_what_differs_from_the_defaults(self, name):
        shown = METHODS[name].__name__
        assert repr(METHODS[name]()) == f"{shown}()"
        assert repr(METHODS[name](seed=4, memory="2GB")) == f"{shown}(seed=4, memory='2GB')"

    def test_copies_and_pickles_give_the_same_vectors(self, name):
        method, graph = METHODS[name](**QUICK[name], seed=4), PLAIN.graph()
        expected = digest(method.embed(graph))
        assert digest(copy.deepcopy(method).embed(graph)) == expected
        assert digest(pickle.loads(pickle.dumps(method)).embed(graph)) == expected

    def test_embed_does_not_change_the_method(self, name):
        method = METHODS[name](**QUICK[name], seed=4)
        before = dict(vars(method))
        method.embed(PLAIN.graph())
        assert vars(method) == before

    def test_an_embedding_records_its_parameters_and_graph(self, name):
        embedding = METHODS[name](**QUICK[name], seed=4).embed(PLAIN.graph())
        assert embedding.parameters["method"] == METHODS[name].__name__
        assert embedding.parameters["seed"] == 4
        assert embedding.graph == PLAIN.graph().describe()


def digest(embedding):
    return hashlib.sha256(embedding.vectors.tobytes()).hexdigest()
