"""Writing and reading tell how far they are."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, load
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.stores import STORES


@pytest.fixture
def embedding(monkeypatch):
    monkeypatch.setattr("hopvec.formats.blocks.BLOCK_BYTES", 64)
    vectors = np.random.default_rng(0).random((10, 4), dtype=np.float32)
    return Embedding(vectors, pa.array(range(10), pa.int64()))


@pytest.mark.parametrize("suffix", EMBEDDING_FORMATS)
def test_saving_tells_the_rows_that_are_written(embedding, suffix, tmp_path):
    told = []
    embedding.save(tmp_path / f"vectors{suffix}", progress=lambda done, of: told.append((done, of)))
    assert told == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize("suffix", [s for s in EMBEDDING_FORMATS if s not in (".npy", ".npz")])
def test_loading_tells_how_much_is_read(embedding, suffix, tmp_path):
    told = []
    embedding.save(tmp_path / f"vectors{suffix}")
    load(tmp_path / f"vectors{suffix}", progress=lambda done, of: told.append(done / of))
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize("store", STORES)
def test_so_does_an_export(embedding, store, tmp_path):
    pytest.importorskip(store)
    told = []
    target = f"{store}:{tmp_path / 'store'}"
    embedding.export(target, progress=lambda done, of: told.append((done, of)))
    assert told == [(4, 10), (8, 10), (10, 10)]
