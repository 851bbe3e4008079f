"""Edge weights at the limits: finite vectors, or a refusal with the reason."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FastRP, FormatError, Graph, GraphError, RandNE, read_graph
from hopvec.engine.combine import unit_scales
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.methods import METHODS
from hopvec.methods.parameters import MAX_ENTRY
from method_variants import CASES

FAULT = Path(__file__).parents[1] / "faults/files/nan-weights.csv"
STAR = Graph.from_edges(np.zeros(20_000, int), np.arange(1, 20_001), np.full(20_000, 1e30))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_weights_from_1e_minus_30_to_1e30_give_finite_vectors(name, options, directed):
    graph = read_graph(FAULT, directed=directed and METHODS[name]._supports_directed)
    try:
        vectors = METHODS[name](**options).embed(graph).vectors
    except GraphError as error:
        assert "overflow" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(vectors).all()


@pytest.mark.parametrize(
    ("beta", "passes", "direction", "memory"),
    [*itertools.product([-1, 0.25, 1], [1, 3], ["out", "concat"], [None, "9MB"])],
)
def test_rows_too_small_to_be_scaled_count_as_zero(tmp_path, beta, passes, direction, memory):
    graph = read_graph(FAULT, directed=True)
    method = FastRP(dim=64, beta=beta, passes=passes, direction=direction, self_weight=1)
    embedding = method.set_params(memory=memory, spill_dir=tmp_path).embed(graph)
    assert np.isfinite(embedding.vectors).all()


def test_cached_and_recomputed_orders_agree_on_rows_that_are_too_small():
    squares = np.array([0.0, 1e-90, 1e-76, 1.0])
    scales = unit_scales({0: squares, 1: squares}, {0: 1.0, 1: -MAX_ENTRY})
    np.testing.assert_array_equal(scales[0], np.float32([0, 0, 1e38, 1]))
    np.testing.assert_array_equal(scales[1], np.float32([0, 0, 0, -MAX_ENTRY]))


@pytest.mark.parametrize("method", [FastRP(dim=16), RandNE(dim=16)])
def test_a_degree_whose_hop_would_overflow_is_refused(method):
    with pytest.raises(GraphError, match=r"largest degree is 2e\+34.*Divide all edge weights by 4"):
        method.embed(STAR)


def test_a_sum_too_large_for_its_principal_components_is_refused():
    graph = Graph.from_edges(range(30), range(1, 31), [1e30] * 30, directed=True)
    method = FastRP(dim=16, beta=-1, normalize="none", passes=1, oversample=2, self_weight=1)
    with pytest.raises(GraphError, match="covariance of the columns overflows float32"):
        method.embed(graph)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("suffix", EMBEDDING_FORMATS)
def test_no_format_is_written_with_a_value_that_is_not_finite(tmp_path, suffix, value):
    vectors = np.ones((3, 4), np.float32)
    vectors[1, 2] = value
    path = tmp_path / f"vectors{suffix}"
    path.write_bytes(b"old")
    with pytest.raises(FormatError, match=r"The vector of 'b' contains -?(nan|inf)"):
        Embedding(vectors, pa.array(["a", "b", "c"])).save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
