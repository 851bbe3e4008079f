"""The parameters of FastRP: invalid values and their messages."""

import math
import warnings

import numpy as np
import pytest

from example_graphs import example, path, skewed_example
from hopvec import FastRP, Graph, GraphError, ParameterError


class TestParameters:
    """A message names the method, the parameter, the allowed values and the given one."""

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (
                {"weights": [0.0, math.nan]},
                "FastRP: weights must be 'auto', or hold 1 to 32 finite numbers, "
                "got [0.0, nan] (entry 2 is nan).",
            ),
            (
                {"weights": [math.inf]},
                "FastRP: weights must be 'auto', or hold 1 to 32 finite numbers, "
                "got [inf] (entry 1 is inf).",
            ),
            (
                {"weights": []},
                "FastRP: weights must be 'auto', or hold 1 to 32 finite numbers, "
                "got [] (it has 0).",
            ),
            (
                {"weights": [1, "x"]},
                "FastRP: weights must be 'auto', or hold 1 to 32 finite numbers, "
                "got [1, 'x'] (entry 2 is x).",
            ),
            (
                {"weights": "1,1"},
                "FastRP: weights must be 'auto', or hold 1 to 32 finite numbers, got '1,1'.",
            ),
            (
                {"weights": np.array([1.0, math.nan])},
                "FastRP: weights must be 'auto', or hold 1 to 32 finite numbers, "
                "got [1.0, nan] (entry 2 is nan).",
            ),
            ({"dim": 0}, "FastRP: dim must be an integer from 1 to 65,536, got 0."),
            ({"dim": 65_537}, "FastRP: dim must be an integer from 1 to 65,536, got 65537."),
            ({"dim": 16.0}, "FastRP: dim must be an integer from 1 to 65,536, got 16.0."),
            ({"dim": True}, "FastRP: dim must be an integer from 1 to 65,536, got True."),
            ({"beta": 1.5}, "FastRP: beta must be a number from -1 to 1, got 1.5."),
            ({"beta": math.nan}, "FastRP: beta must be a number from -1 to 1, got nan."),
            ({"beta": "0.5"}, "FastRP: beta must be a number from -1 to 1, got '0.5'."),
            (
                {"sparsity": 0.5},
                "FastRP: sparsity must be 'sqrt', or be a number from 1 to 1e+12, got 0.5.",
            ),
            (
                {"sparsity": "log"},
                "FastRP: sparsity must be 'sqrt', or be a number from 1 to 1e+12, got 'log'.",
            ),
            (
                {"self_weight": math.inf},
                "FastRP: self_weight must be a number from -1e+06 to 1e+06, got inf.",
            ),
            (
                {"normalize": "l2"},
                "FastRP: normalize must be 'none' or 'orders' or 'authors' or 'full', got 'l2'.",
            ),
            (
                {"precision": "float64"},
                "FastRP: precision must be 'float32' or 'float16', got 'float64'.",
            ),
            (
                {"seed": -1},
                "FastRP: seed must be an integer from 0 to 18,446,744,073,709,551,615, got -1.",
            ),
            (
                {"threads": 0},
                "FastRP: threads must be an integer from 1 to 1,024, or be None, got 0.",
            ),
            (
                {"memory": "much"},
                "FastRP: memory must be a positive size such as '4GB', '512MiB' or a number of "
                "bytes, or be None, got 'much'.",
            ),
            (
                {"weights": [0, 0]},
                "FastRP: weights are all zero and so is self_weight: every vector would be zero. "
                "Give at least one order a weight.",
            ),
        ],
        ids=lambda value: str(value) if isinstance(value, dict) else "",
    )
    def test_the_message(self, wrong, message):
        with pytest.raises(ParameterError) as error:
            FastRP(**wrong).embed(example(path(3), 3).graph())
        assert str(error.value) == message

    def test_more_than_32_weights_are_rejected(self):
        graph = example(path(3), 3).graph()
        FastRP(dim=8, weights=[1] * 32).embed(graph)
        with pytest.raises(ParameterError, match=r"\(it has 33\)"):
            FastRP(dim=8, weights=[1] * 33).embed(graph)

    def test_numpy_numbers_are_accepted(self):
        graph = skewed_example(50, 200).graph()
        plain = FastRP(dim=20, weights=[0, 1], beta=-0.5, seed=5, threads=2, sparsity=2)
        numpy = FastRP(
            dim=np.int64(20),
            weights=np.array([0.0, 1.0]),
            beta=np.float64(-0.5),
            seed=np.uint64(5),
            threads=np.int32(2),
            sparsity=np.float32(2),
        )
        np.testing.assert_array_equal(numpy.embed(graph).vectors, plain.embed(graph).vectors)

    def test_weights_whose_vectors_would_be_infinite_are_rejected(self):
        graph = example(path(3), 3).graph()
        largest = FastRP(dim=8, weights=[1e6], normalize="none", passes=1).embed(graph)
        assert np.isfinite(largest.vectors).all()
        with pytest.raises(ParameterError, match=r"got \[1e\+300\] \(entry 1 is beyond 1e\+06\)"):
            FastRP(dim=8, weights=[1e300]).embed(graph)

    def test_degrees_whose_powers_overflow_float32_are_rejected_unless_orders_are_normalized(self):
        graph = Graph.from_edges([0, 1], [1, 2], [1e-30, 1e30])
        options = {"dim": 8, "beta": -1.0, "sparsity": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(GraphError, match=r"Order 3 overflows float32: the degrees of this"):
                FastRP(normalize="none", passes=1, **options).embed(graph)
        assert np.isfinite(FastRP(normalize="full", **options).embed(graph).vectors).all()

    @pytest.mark.parametrize(
        "wrong",
        [{"beta": np.complex64(1)}, {"weights": np.array(1.0)}, {"memory": "1e400"}],
        ids=str,
    )
    def test_unusual_values_raise_parameter_errors(self, wrong):
        with pytest.raises(ParameterError, match="FastRP: "):
            FastRP(dim=8, **wrong).embed(np.ones((3, 3)))
