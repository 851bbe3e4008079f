"""Writing, reading and exporting report progress."""

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
def test_saving_reports_the_number_of_rows_written(embedding, suffix, tmp_path):
    calls = []
    embedding.save(tmp_path / f"vectors{suffix}", progress=lambda *call: calls.append(call))
    assert calls == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize("suffix", [s for s in EMBEDDING_FORMATS if s not in (".npy", ".npz")])
def test_loading_reports_the_amount_read(embedding, suffix, tmp_path):
    shares = []
    embedding.save(tmp_path / f"vectors{suffix}")
    load(tmp_path / f"vectors{suffix}", progress=lambda done, total: shares.append(done / total))
    assert shares == sorted(shares)
    assert shares[-1] == 1


@pytest.mark.parametrize("store", STORES)
def test_exporting_reports_the_number_of_rows_written(embedding, store, tmp_path, request):
    calls = []
    if store == "postgresql":
        server = request.getfixturevalue("postgres")
        target = server.uri(schema=request.getfixturevalue("schema"))
    else:
        pytest.importorskip(store)  # the name of its package
        target = f"{store}:{tmp_path / 'store'}"
    embedding.export(target, progress=lambda *call: calls.append(call))
    assert calls == [(4, 10), (8, 10), (10, 10)]
