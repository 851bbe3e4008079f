"""Oversampling: many columns compressed to the principal components."""

import numpy as np
import pytest

import oracle
from example_graphs import example, path, random_example, skewed_example, star
from hopvec import MemoryLimitError, ParameterError
from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.principal import PCA_BLOCK_ROWS, principal_components
from hopvec.spill import SpillFile
from one_pass import one_pass

CASES = {
    "weighted": skewed_example(400, 1600, weighted=True, seed=1),
    "isolated nodes": random_example(400, 1200, seed=2, isolated=7),
    "directed": skewed_example(400, 1600, weighted=True, directed=True, seed=3),
}
NORMALIZE = ("none", "orders", "authors", "full")


def wide(case, method):
    """All columns before compression."""
    parameters = method.get_params() | {"dim": method._width, "oversample": 1}
    return one_pass(**parameters).embed(case.graph()).vectors


def cosines(vectors):
    return oracle.unit_rows(vectors.astype(np.float64)) @ oracle.unit_rows(vectors).T


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("normalize", NORMALIZE)
@pytest.mark.parametrize("spectrum", [1.0, 0.5])
def test_it_is_the_formula(case, normalize, spectrum):
    case = CASES[case]
    method = one_pass(dim=6, oversample=5, normalize=normalize, spectrum=spectrum)
    got = method.embed(case.graph()).vectors
    sums = wide(case, method).astype(np.float64)
    expected = oracle.compress(sums, 6, spectrum, unit=normalize == "full")
    scale = np.abs(expected).max()
    if spectrum != 1:  # the result is defined up to a factor
        got = got * (np.abs(expected).max() / np.abs(got).max())
    np.testing.assert_allclose(got, expected, rtol=0, atol=3e-4 * scale)


def test_the_columns_before_compression_are_those_of_a_wider_embedding():
    case = CASES["weighted"]
    method = one_pass(dim=16, oversample=4, beta=-0.5, weights=(0, 1, 2))
    kept = method.embed(case.graph()).fitted_state.statistics.components
    sums = wide(case, method).astype(np.float64)
    projected = (sums @ kept.basis - kept.columns.mean) * kept.columns.factor
    vectors = method.embed(case.graph()).vectors
    np.testing.assert_allclose(oracle.unit_rows(projected), vectors, rtol=0, atol=1e-6)


def test_cosines_stay_near_those_of_all_columns():
    case = skewed_example(600, 9000, seed=5)
    method = one_pass(dim=64, oversample=4)
    compressed, plain = (
        np.abs(cosines(one.embed(case.graph()).vectors) - cosines(wide(case, method))).mean()
        for one in (method, one_pass(dim=64))
    )
    assert compressed < plain / 2


def test_oversample_1_changes_no_byte():
    graph = CASES["weighted"].graph()
    plain = one_pass(dim=20).embed(graph)
    assert one_pass(dim=20, oversample=1, spectrum=0.3).embed(graph).vectors.tobytes() == (
        plain.vectors.tobytes()
    )
    assert plain.fitted_state.statistics.components is None


def test_the_largest_entry_of_every_component_is_positive():
    basis = (
        one_pass(dim=9, oversample=3)
        .embed(CASES["weighted"].graph())
        .fitted_state.statistics.components
    )
    largest = np.abs(basis.basis).argmax(axis=0)
    assert (basis.basis[largest, np.arange(9)] > 0).all()


def test_components_are_ordered_by_variance():
    vectors = one_pass(dim=8, oversample=4, normalize="authors").embed(CASES["weighted"].graph())
    deviation = vectors.vectors.std(axis=0)
    assert (np.diff(deviation) <= 1e-6).all()
    alike = one_pass(dim=8, oversample=4, normalize="authors", spectrum=0)
    deviation = alike.embed(CASES["weighted"].graph()).vectors.std(axis=0)
    np.testing.assert_allclose(deviation, deviation[0], rtol=1e-4)


def test_nodes_without_edges_keep_a_zero_vector_and_do_not_affect_the_components():
    case = CASES["isolated nodes"]
    vectors = one_pass(dim=10, oversample=3).embed(case.graph()).vectors
    alone = ~case.S.any(axis=1)
    assert not vectors[alone].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[~alone], axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("case", [example([], 4), example(path(2), 2), example(star(5), 5)])
def test_surplus_components_are_zero(case):
    vectors = one_pass(dim=12, oversample=2, sparsity=1).embed(case.graph()).vectors
    assert np.isfinite(vectors).all()
    assert np.count_nonzero(vectors.any(axis=0)) < case.nodes


def test_a_memory_limit_leads_to_a_spill_file_and_the_same_bytes(monkeypatch):
    graph = random_example(3 * PCA_BLOCK_ROWS + 17, 9000, isolated=9).graph()
    method = one_pass(dim=16, oversample=3, threads=2)
    expected = method.embed(graph).vectors.tobytes()
    scattered = []
    monkeypatch.setattr(
        SpillFile,
        "scatter",
        lambda file, rows, array, scatter=SpillFile.scatter: (
            scattered.append(len(rows)),
            scatter(file, rows, array),
        ),
    )
    seen = []
    while True:
        plan = method.plan(graph)
        seen.append((plan.orders, plan.output))
        assert method.embed(graph).vectors.tobytes() == expected
        try:
            method.set_params(memory=plan.bytes.total - 1).plan(graph)
        except MemoryLimitError:
            break
    assert seen == [("cached", "memory"), ("recomputed", "memory"), ("recomputed", "file")]
    assert scattered == [PCA_BLOCK_ROWS, PCA_BLOCK_ROWS, PCA_BLOCK_ROWS, 17]


def test_a_plan_counts_all_columns():
    graph = CASES["weighted"].graph()
    plan = one_pass(dim=24, oversample=4, threads=1).plan(graph)
    assert (plan.dim, plan.width, plan.slabs) == (24, 96, 6)
    assert plan.bytes.output == 4 * 400 * 24
    assert plan.bytes.working["wide sum"] == 4 * 400 * 96
    assert plan.bytes.working["principal components"] >= 3 * 8 * 96 * 96
    assert "96 columns compressed to 24" in str(plan)


def test_progress_reaches_the_total():
    graph = random_example(2 * PCA_BLOCK_ROWS, 5000).graph()
    for memory in (None, one_pass(dim=16, oversample=2).working_bytes(graph.nodes) + 10**6):
        reported = []
        one_pass(dim=16, oversample=2, memory=memory).embed(
            graph, progress=lambda done, total, reported=reported: reported.append((done, total))
        )
        assert reported[-1][0] == reported[-1][1]
        assert reported == sorted(set(reported))


def test_too_many_columns_are_rejected_with_the_number():
    with pytest.raises(ParameterError) as error:
        one_pass(dim=512, oversample=17).embed(CASES["weighted"].graph())
    assert str(error.value) == (
        "FastRP: oversample times dim must be at most 8,192, got 17 x 512 = 8,704. "
        "Reduce one of them."
    )


def test_principal_components_are_those_of_numpy():
    random = np.random.default_rng(0)
    rows = (random.normal(size=(700, 30)) * 2.0 ** -np.arange(30) + 3).astype(np.float32)
    found = principal_components(
        [(0, rows)], 30, 5, present=700, spectrum=1.0, threads=2, done=lambda rows: None
    )
    vectors = np.linalg.eigh(np.cov(rows.T.astype(np.float64)))[1]
    expected = vectors[:, ::-1][:, :5]
    np.testing.assert_allclose(np.abs(found.basis.T @ expected), np.eye(5), rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.columns.mean, rows.mean(axis=0) @ found.basis, rtol=1e-4)
    np.testing.assert_array_equal(found.columns.factor, 1.0)
    assert isinstance(found.columns, ColumnScaler)
