"""Ids that no file could hold, or no reader would accept, are refused when they are given."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hopvec
from hopvec import Embedding, FormatError, Graph, GraphError, ParameterError
from saved_embeddings import SUFFIXES

NOT_UTF8 = pa.array([b"a", b"\xff"])
VECTORS = np.eye(2, dtype=np.float32)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (pa.array([1, None]), r", row 1: the id is null"),
        (pa.array(["a", None], pa.large_string()), r", row 1: the id is null"),
        (pa.array([1, 1]), r": the id 1 is repeated"),
        (pa.array(["a", "a"]), r": the id 'a' is repeated"),
    ],
    ids=str,
)
def test_ids_that_load_refuses_are_not_saved(tmp_path, suffix, ids, message):
    path = tmp_path / f"vectors{suffix}"
    with pytest.raises(FormatError, match=rf"vectors{suffix}{message}"):
        Embedding(VECTORS, ids).save(path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (pa.array(["a", None]), "entry 2: there is no id"),
        (pa.array([1.5, 2.5]), "the id 1.5 is not an integer or a string"),
        (NOT_UTF8.view(pa.string()), "cannot be read"),
    ],
    ids=str,
)
def test_an_embedding_has_no_ids_that_no_file_could_hold(ids, message):
    with pytest.raises(ParameterError, match=message):
        Embedding(VECTORS, ids)


@pytest.mark.parametrize("column", [NOT_UTF8, NOT_UTF8.view(pa.string())], ids=["binary", "text"])
def test_a_table_with_ids_that_are_not_utf8_is_refused(column):
    table = pa.table({"source": column, "target": ["b", "c"]})
    with pytest.raises(FormatError, match="the Table, row 1 or later: the column 'source' cannot"):
        Graph.from_arrow(table)


def test_a_list_of_ids_that_are_not_utf8_is_refused():
    with pytest.raises(GraphError, match="source: the ids cannot be read"):
        Graph.from_edges(NOT_UTF8.view(pa.string()), pa.array(["b", "c"]))


def test_ids_of_a_run_are_saved_and_loaded(tmp_path):
    embedding = hopvec.FastRP(dim=4).embed(Graph.from_edges(["a", "b"], ["b", "c"]))
    embedding.save(tmp_path / "vectors.parquet")
    assert hopvec.load(tmp_path / "vectors.parquet").ids.to_pylist() == ["a", "b", "c"]


def test_vectors_without_columns_are_refused(tmp_path):
    with pytest.raises(hopvec.ParameterError, match="at least one column"):
        Embedding(np.empty((2, 0), np.float32), pa.array([1, 2]))
    with pytest.raises(FormatError, match=r"dim0\.parquet: .* at least one column"):
        hopvec.load(Path(__file__).parent / "files" / "dim0.parquet")
