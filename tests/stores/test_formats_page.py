"""The examples of docs/reference/formats.md work as printed."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from saved_embeddings import EMBEDDING_FORMATS, random_embedding

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"


@pytest.mark.parametrize("store", ["duckdb", "lancedb", "faiss", "qdrant_client"])
def test_the_example_of_a_store_finds_the_same_neighbors(tmp_path, monkeypatch, store):
    pytest.importorskip(store)
    monkeypatch.chdir(tmp_path)
    embedding = random_embedding(pa.array([f"node {number}" for number in range(300)]), dim=16)
    embedding.save("vectors.parquet")
    text = PAGE.read_text(encoding="utf-8")
    (block,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        if re.search(rf"^(import|from) .*\b{store}\b", block, re.MULTILINE)
    ]
    names = {}
    exec(compile(block, "docs/reference/formats.md", "exec"), names)
    found = [row[0] if isinstance(row, tuple) else row for row in names["found"]]
    assert [id for id in found if id != "node 0"] == [id for id, _ in embedding.nearest("node 0")]


def test_the_table_of_formats_lists_every_suffix_and_float16_support():
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    half = {}
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) == 6:
            half |= dict.fromkeys(re.findall(r"`([^`]+)`", cells[0]), cells[5] == "yes")
    expected = {suffix: "float16" in each.DTYPES for suffix, each in EMBEDDING_FORMATS.items()}
    assert half == expected


def test_zero_vectors_are_not_neighbors_in_duckdb(tmp_path):
    import duckdb

    embedding = random_embedding(pa.array(np.arange(50)), dim=16)
    vectors = embedding.vectors.copy()
    vectors[10:20] = 0
    embedding = type(embedding)(vectors, embedding.ids)
    embedding.export(f"duckdb:{tmp_path / 'graph.db'}")
    query = PAGE.read_text(encoding="utf-8").split('nearest = """')[1].split('"""')[0]
    with duckdb.connect(tmp_path / "graph.db") as graph:
        found = [id for id, _ in graph.execute(query, [0]).fetchall()]
    assert found == [id for id, _ in embedding.nearest(0)]
