"""Files of every format that hopvec reads, to be damaged.

The formats of vectors, graphs and labels are those of the tables in `hopvec.formats`: a new line
there is covered here, or `test_fuzz.py` fails because it has no seed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

import hopvec
from graph_files import COMPRESS, WEIGHT, WRITERS
from hopvec.formats import EMBEDDING_FORMATS
from saved_embeddings import INTEGERS, random_embedding, string_ids

rng = np.random.default_rng(0)
NODES = 12
GRAPH = hopvec.Graph.from_edges(*rng.integers(0, NODES, (2, 40)))


@dataclass(frozen=True)
class Seed:
    """A file, with the files beside it, that a reader of `worker.py` reads."""

    format: str
    """The name by which cases are counted."""
    reader: str
    name: str
    """Of the file or directory that is read."""
    files: dict[str, bytes]
    """By path; all of them may be damaged."""
    options: dict[str, Any] = field(default_factory=dict)


def all_seeds() -> list[Seed]:
    """The seeds of all readers."""
    sources = (_graphs, _tables_of_edges, _labels, _node_tables, _vectors, _fitted, _others)
    seeds = [seed for source in sources for seed in source()]
    return seeds + [
        Seed(seed.format, "info", seed.name, seed.files)
        for seed in seeds
        if seed.reader in ("graph", "vectors") and not seed.options
    ]


def _written(name: str, write: Any) -> dict[str, bytes]:
    """The files that a function writes, given the path."""
    with TemporaryDirectory() as directory:
        write(Path(directory, name))
        return {
            path.relative_to(directory).as_posix(): path.read_bytes()
            for path in sorted(Path(directory).rglob("*"))
            if path.is_file()
        }


def _graphs() -> Iterator[Seed]:
    for (format_, name), write in WRITERS.items():
        files = _written(name, lambda path, write=write: write(path, WEIGHT))
        yield Seed(f"graph {format_}", "graph", name, files)
        for suffix, compress in COMPRESS.items():
            if suffix:
                compressed = {name + suffix: bytes(compress(files[name]))}
                yield Seed(f"graph {suffix}", "graph", name + suffix, compressed)


RELATIONS = pa.table(
    {
        "from": [f"node {k % 9}" for k in range(30)],
        "to": [f"é{k % 7}" for k in range(30)],
        "weight": [0.5 + k for k in range(30)],
        "relation": ["KNOWS", "LIKES", "FOLLOWS"] * 10,
        "time": [f"2024-01-{1 + k % 28:02} 10:00:00" for k in range(30)],
    }
)


def _tables_of_edges() -> Iterator[Seed]:
    options = {"relation": "relation", "time": "time", "half_life": "5d"}
    for name, write in TABLES.items():
        files = _written(f"edges{name}", partial(write, RELATIONS))
        yield Seed(f"graph relations {name}", "graph", f"edges{name}", files, options)
        skip = {"bad_rows": "skip"} if name == ".csv" else {"nodes": ["node 3", "x"]}
        yield Seed(f"graph options {name}", "graph", f"edges{name}", files, skip)
    parts = {f"edges.parquet/day={k}/part-{k}.parquet": _parquet(RELATIONS[k::3]) for k in range(3)}
    yield Seed("graph directory", "graph", "edges.parquet", parts)
    for name, matrix in (("dense", np.eye(5)), ("cells", sp.csc_array(np.eye(5)))):
        file = io.BytesIO()
        variables = {"network": sp.csc_array(np.eye(6)), name: matrix, "text": "abc"}
        scipy.io.savemat(file, variables, do_compression=name == "dense")
        files = {"matrix.mat": file.getvalue()}
        yield Seed("graph matlab", "graph", "matrix.mat", files, {"variable": name})
    for kind in ("real symmetric", "integer symmetric", "pattern symmetric"):
        lines = (f"{k} {k - 1}" + ("" if "pattern" in kind else f" {k}") for k in range(2, 9))
        text = f"%%MatrixMarket matrix coordinate {kind}\n% x\n9 9 7\n" + "\n".join(lines) + "\n"
        yield Seed("graph matrix-market", "graph", "m.mtx", {"m.mtx": text.encode()})
    quoted = "source,target,weight\n" + '"a,b","c ""d""",1.5\n"e f",g,2\n' * 4
    yield Seed("graph text", "graph", "quoted.csv", {"quoted.csv": quoted.encode()})
    decimal = "von;nach;gewicht\n" + "".join(f"{k};{k * 3 % 8};{k},5\n" for k in range(9))
    yield Seed("graph text", "graph", "decimal.csv", {"decimal.csv": decimal.encode()})
    attributes = "".join(f"{k} {k + 1} {{'weight': {k}.5, 'kind': 'a b'}}\n" for k in range(9))
    yield Seed("graph text", "graph", "x.edgelist", {"x.edgelist": attributes.encode()})


LABEL_TABLE = pa.table(
    {
        "id": np.arange(NODES),
        "label": (["red", "green;blue", None, "é"] * 3)[:NODES],
    }
)


def _labels() -> Iterator[Seed]:
    for name, write in TABLES.items():
        files = _written(f"labels{name}", partial(write, LABEL_TABLE))
        kind = "text" if name in (".csv", ".tsv") else "columnar"
        yield Seed(f"labels {kind}", "labels", f"labels{name}", files)
    lists = "".join(f"n{k} red blue{k % 3}\n" for k in range(9)).encode()
    yield Seed("labels adjacency", "labels", "labels.adjlist", {"labels.adjlist": lists})
    for names in ({}, {"label_names": np.array(["a", "b", "c"])}):
        for label in (np.arange(9) % 3, np.eye(3, dtype=np.int8)[np.arange(9) % 3]):
            file = io.BytesIO()
            np.savez(file, label=label, **names)
            yield Seed("labels npz", "labels", "labels.npz", {"labels.npz": file.getvalue()})
    for group in (sp.csc_array(np.eye(9)[:, :3]), np.eye(9)[:, :3]):
        file = io.BytesIO()
        scipy.io.savemat(file, {"network": sp.csc_array(np.eye(9)), "group": group})
        yield Seed("labels matlab", "labels", "labels.mat", {"labels.mat": file.getvalue()})


NODE_TABLE = pa.table(
    {
        "id": [str(k) for k in range(NODES)],
        "kind": pa.array((["user", "item", None] * 4)[:NODES]).dictionary_encode(),
        "age": np.arange(NODES) / 7,
        "tags": [[1, 0], [0, 1], [1, 1], [0, 0]] * (NODES // 4),
        "vector": pa.array(np.eye(NODES, 3, dtype=np.float32).tolist(), pa.list_(pa.float32(), 3)),
    }
)


def _node_tables() -> Iterator[Seed]:
    for name, write in TABLES.items():
        text = name in (".csv", ".tsv")
        table = NODE_TABLE.drop_columns(["tags", "vector"]) if text else NODE_TABLE
        files = _written(f"nodes{name}", partial(write, table))
        for reader in ("features", "nodes"):
            yield Seed(f"{reader} {name}", reader, f"nodes{name}", files)
        column = NODE_TABLE.select(["id"])
        files = _written(f"nodes{name}", partial(write, column))
        yield Seed(f"nodes {name}", "nodes", f"nodes{name}", files)
    neo4j = "personId:ID(Person),name,:LABEL\n" + "".join(f"{k},n{k},A;B\n" for k in range(9))
    yield Seed("nodes neo4j", "nodes", "nodes.csv", {"nodes.csv": neo4j.encode()})
    for name, write in TABLES.items():
        pairs = {"source": [0, 1, 2, 3, 4, 5, 6, 7], "target": [3, 4, 5, 6, 7, 8, 9, 10]}
        kinds = {"label": [1, 0] * 4, "sampling": [None, "uniform", None, "degree"] * 2}
        files = _written(f"links{name}", partial(write, pa.table(pairs | kinds)))
        yield Seed(f"links {name}", "links", f"links{name}", files)


def _vectors() -> Iterator[Seed]:
    typed = random_embedding(INTEGERS)
    kinds = ["user", None] * (len(INTEGERS) // 2)
    typed = hopvec.Embedding(typed.vectors, typed.ids, types=kinds)
    for suffix, module in EMBEDDING_FORMATS.items():
        name = f"vectors{suffix}"
        for embedding in (random_embedding(string_ids(suffix)), typed):
            for dtype in module.DTYPES:
                try:
                    files = _written(name, partial(embedding.save, dtype=dtype))
                except hopvec.HopvecError:  # the word2vec formats hold no types
                    continue
                yield Seed(f"vectors {suffix}", "vectors", name, files)
                if suffix in (".parquet", ".arrow"):
                    yield Seed(f"columns {suffix}", "columns", name, files)
    foreign = pa.table({"node": ["a", "b", "c"], "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    wide = pa.table({"node": [1, 2, 3], **{f"d{k}": np.arange(3) / 7 for k in range(4)}})
    positions = pa.table({"id": [1, 2, 3]}).append_column("embedding", foreign["v"])
    positions = positions.append_column("x", [[1.0, 2, 3]]).append_column("y", [[0.5, 1, 2]])
    positions = positions.append_column("kind", pa.array(["a", None, "b"]).dictionary_encode())
    for name, write in TABLES.items():
        if name in (".parquet", ".arrow"):
            for table in (foreign, wide):
                files = _written(f"v{name}", partial(write, table))
                yield Seed(f"vectors {name}", "vectors", f"v{name}", files)
            files = _written(f"v{name}", partial(write, positions))
            yield Seed(f"columns {name}", "columns", f"v{name}", files)


FITTED = {
    "one pass": {"passes": 1},
    "passes": {},
    "oversample": {"passes": 1, "oversample": 2},
    "degrees": {"degree_weight": 1.0},
    "gaussian": {"projection": "gaussian"},
}


def _fitted() -> Iterator[Seed]:
    for options in FITTED.values():
        embedding = hopvec.FastRP(dim=4, **options).embed(GRAPH)
        for suffix in (".parquet", ".arrow", ".npz", ".npy"):
            files = _written(f"like{suffix}", embedding.save)
            yield Seed(f"like {suffix}", "like", f"like{suffix}", files, {"dim": 4, **options})
            yield Seed(f"vectors {suffix}", "vectors", f"like{suffix}", files)


def _others() -> Iterator[Seed]:
    row = {"window": "2024-01", "nodes": 5, "edges": 7}
    content = {
        "settings": {"method": "FastRP", "dim": 8, "every": "month"},
        "reference": "2024-01: 7 edges, 1f",
        "windows": {"2024-01": {"fingerprint": "7 edges, 1f", "row": row}},
    }
    text = json.dumps(content, indent=1).encode()
    yield Seed("manifest", "manifest", "snapshots.json", {"snapshots.json": text})


def _parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def _ipc(table: pa.Table, path: Path, new: Any) -> None:
    with new(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def _text(table: pa.Table, path: Path, separator: str) -> None:
    plain = pa.table(
        {
            n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c
            for n, c in zip(table.column_names, table.columns, strict=True)
        }
    )
    pyarrow.csv.write_csv(plain, path, pyarrow.csv.WriteOptions(delimiter=separator))


TABLES: dict[str, Any] = {
    ".parquet": lambda table, path: pq.write_table(table, path, row_group_size=7),
    ".arrow": lambda table, path: _ipc(table, str(path), pa.ipc.new_file),
    ".arrows": lambda table, path: _ipc(table, str(path), pa.ipc.new_stream),
    ".csv": lambda table, path: _text(table, path, ","),
    ".tsv": lambda table, path: _text(table, path, "\t"),
}
