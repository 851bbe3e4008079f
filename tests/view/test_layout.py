"""Layouts: reproducible bytes, landmarks, and purity."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clustered_embedding import clustered_embedding
from hopvec import Embedding, Labels, MissingExtraError, ParameterError, datasets
from hopvec.view import layout, purity
from hopvec.view.components import principal_components
from hopvec.view.landmarks import choose_landmarks, copy_rows, place_by_landmarks
from one_pass import one_pass

# A run of its own, since BLAS and OpenMP take their threads when they are loaded.
PROGRAM = """
import hashlib, sys
import hopvec.embedding, hopvec.view.components, hopvec.view.layout
sys.path.insert(0, sys.argv[1])
from clustered_embedding import clustered_embedding
for module in (hopvec.embedding, hopvec.view.components):
    module.cores = lambda: int(sys.argv[2])
sys.modules["hopvec.view.layout"].LANDMARKS_FROM = 300
sys.modules["hopvec.view.layout"].LANDMARKS = 200
tsne = sys.modules["hopvec.view.tsne"]
tsne.FFT_FROM, tsne.EARLY, tsne.LATE = int(sys.argv[3]), 10, 20
embedding, labels = clustered_embedding(400, dim=150)
for kind in ("tsne", "pca"):
    positions = hopvec.view.layout(embedding, kind=kind, seed=3)
    print(hashlib.sha256(positions.tobytes()).hexdigest())
"""


def hashes(threads, fft_from):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    here = str(Path(__file__).parents[1])
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, here, str(threads), str(fft_from)],
        env=os.environ | dict.fromkeys(names, str(threads)),
        capture_output=True,
        text=True,
        check=True,
    )
    return finished.stdout


@pytest.mark.parametrize("fft_from", [100, 10_000], ids=["interpolation", "tree"])
def test_the_same_bytes_for_any_number_of_threads(fft_from):
    assert hashes(1, fft_from) == hashes(4, fft_from)


def test_landmarks_depend_on_the_seed_only():
    rows = np.arange(1000)
    first, again, other = (choose_landmarks(rows, rows[:0], 100, seed) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()
    assert len(set(first.tolist())) == 100


def test_labeled_nodes_are_preferred_as_landmarks():
    rows, labeled = np.arange(0, 1000, 2), np.arange(0, 100, 2)
    some = choose_landmarks(rows, labeled, 80, 0)
    assert set(labeled) <= set(some) <= set(rows)
    few = choose_landmarks(rows, labeled, 20, 0)
    assert set(few) <= set(labeled)
    assert few.tolist() == sorted(few)


def test_other_nodes_are_placed_at_the_median_of_their_five_nearest_landmarks():
    embedding, _ = clustered_embedding(200)
    landmarks, others = np.arange(0, 200, 2), np.arange(1, 200, 2)
    positions = np.random.default_rng(1).standard_normal((100, 2))
    chosen = copy_rows(embedding, landmarks)
    placed = place_by_landmarks(embedding, others, chosen, positions, lambda done, total: None)
    unit = embedding.vectors.astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for row, position in zip(others, placed, strict=True):
        nearest = np.argsort(-(unit[landmarks] @ unit[row]), kind="stable")[:5]
        np.testing.assert_allclose(position, np.median(positions[nearest], axis=0))


def test_large_graphs_are_laid_out_with_landmarks(monkeypatch):
    monkeypatch.setattr(sys.modules["hopvec.view.layout"], "LANDMARKS_FROM", 200)
    monkeypatch.setattr(sys.modules["hopvec.view.layout"], "LANDMARKS", 120)
    embedding, labels = clustered_embedding(400, isolated=7)
    reported = []
    labeled = labels.align(embedding).rows
    positions = layout(
        embedding, labeled=labeled, progress=lambda done, total: reported.append((done, total))
    )
    assert np.isfinite(positions[:-7]).all()
    assert np.isnan(positions[-7:]).all()
    assert purity(positions, embedding, labels).nodes > 0.95
    assert reported == sorted(reported)
    assert reported[-1][0] == reported[-1][1]
    first = choose_landmarks(np.arange(393), labeled, 120, 0)
    assert len(np.unique(positions[first], axis=0)) == 120


def test_principal_components_match_numpy():
    embedding, _ = clustered_embedding(150, dim=40)
    rows = np.arange(10, 150)
    unit = embedding.vectors[rows].astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    unit -= unit.mean(axis=0)
    _, _, directions = np.linalg.svd(unit, full_matrices=False)
    found, expected = principal_components(embedding, rows), unit @ directions[:2].T
    expected *= np.sign(expected[np.abs(expected).argmax(axis=0), [0, 1]])
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["tsne", "pca"])
@pytest.mark.parametrize("nodes", [0, 1, 2, 15, 16])
def test_few_nodes_have_positions_too(nodes, kind):
    embedding, _ = clustered_embedding(40)
    some = Embedding(embedding.vectors[:nodes], embedding.ids[:nodes])
    positions = layout(some, kind=kind)
    assert positions.shape == (nodes, 2)
    assert positions.dtype == np.float32
    assert np.isfinite(positions).all()


def test_one_column_has_a_layout():
    embedding, _ = clustered_embedding(30, dim=1)
    assert np.isfinite(layout(embedding)).all()


def test_an_unknown_kind_is_rejected():
    with pytest.raises(ParameterError, match="kind must be 'tsne' or 'pca', got 'umap'"):
        layout(clustered_embedding(20)[0], kind="umap")


def test_without_the_extra_tsne_is_an_error_and_pca_works(monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    embedding, _ = clustered_embedding(30)
    with pytest.raises(MissingExtraError, match=r"pip install 'hopvec\[view\]'"):
        layout(embedding)
    assert np.isfinite(layout(embedding, kind="pca")).all()


def test_purity_is_the_share_of_nearest_nodes_in_the_same_class():
    embedding, _ = clustered_embedding(4)
    labels = Labels.from_pairs(embedding.ids, ["a", "a", "a", "b"])
    positions = np.float32([[0, 0], [1, 0], [3, 0], [3.5, 0]])
    nodes = [1, 1, 0, 0]  # of the nearest of each
    assert purity(positions, embedding, labels, k=1) == (np.mean(nodes), (2 / 3 + 0) / 2)
    with pytest.raises(ParameterError, match="k must be less than the number of labeled nodes"):
        purity(positions, embedding, labels, k=4)


def test_purity_ignores_isolated_nodes_and_handles_equal_positions():
    embedding, labels = clustered_embedding(60, classes=1)
    positions = np.zeros((60, 2), np.float32)
    positions[:10] = np.nan
    assert purity(positions, embedding, labels) == (1.0, 1.0)


def test_sections_of_debian_are_close_together(monkeypatch):
    """With t-SNE, classes are twice as pure as with PCA; uses few landmarks to be fast."""
    monkeypatch.setattr(sys.modules["hopvec.view.layout"], "LANDMARKS", 4000)
    monkeypatch.setattr(sys.modules["hopvec.view.tsne"], "EARLY", 100)
    monkeypatch.setattr(sys.modules["hopvec.view.tsne"], "LATE", 200)
    graph, sections = datasets.debian()
    labels = Labels.from_pairs(graph.ids, sections)
    embedding = one_pass(dim=64, seed=7).embed(graph)
    found, plain = (
        purity(layout(embedding, kind=kind), embedding, labels) for kind in ("tsne", "pca")
    )
    assert found.classes > 2 * plain.classes
    assert found.nodes > 1.6 * plain.nodes
