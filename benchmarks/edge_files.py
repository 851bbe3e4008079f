"""The edge lists of the file benchmark: python -m benchmarks.edge_files writes them once.

Power-law graphs of datasets.ChungLu, and a real graph with the names of its nodes. There are no
duplicate edges and no loops, so that every tool reads the same unweighted graph. The edges of
random graphs are in random order. Prints JSON.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks import graphs
from benchmarks.files import FILES, EdgeFile
from hopvec import datasets


def chung_lu_edges(file: EdgeFile) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sources and targets of the distinct edges of a Chung-Lu graph, in random order."""
    random_graph = datasets.ChungLu(nodes=file.nodes, edges=file.draws)
    source, target = map(np.concatenate, zip(*random_graph.blocks(), strict=True))
    low, high = np.minimum(source, target), np.maximum(source, target)
    _, first = np.unique(low.astype(np.int64) * file.nodes + high, return_index=True)
    first = np.sort(first[low[first] != high[first]])
    return source[first], target[first]


def string_ids(numbers: NDArray[np.int32]) -> pa.Array:
    """Ids such as user_123456."""
    return pc.binary_join_element_wise("user", pa.array(numbers).cast(pa.string()), "_")


def write_csv(path: Path, source: pa.Array, target: pa.Array) -> None:
    """Write CSV with a header."""
    from pyarrow import csv

    options = csv.WriteOptions(quoting_style="none")
    with path.open("wb") as out:
        csv.write_csv(pa.table({"source": source, "target": target}), out, options)


def write_parquet(path: Path, source: pa.Array, target: pa.Array) -> None:
    """Write Parquet."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"source": source, "target": target}), path)


def make(file: EdgeFile) -> dict[str, Any]:
    """Write a file unless it exists; returns its nodes, edges and bytes."""
    size_path = file.path.with_suffix(".json")
    if not (file.path.is_file() and size_path.is_file()):
        file.path.parent.mkdir(exist_ok=True)
        unfinished = file.path.with_suffix(f".{os.getpid()}")
        size_path.write_text(json.dumps(write(file, unfinished)))
        unfinished.rename(file.path)
    return dict(json.loads(size_path.read_text())) | {"bytes": file.path.stat().st_size}


def write(file: EdgeFile, path: Path) -> dict[str, int]:
    """Write a file; returns its nodes and edges."""
    if file.draws:
        source, target = chung_lu_edges(file)
        ends = [pa.array(source), pa.array(target)]
        if file.path.suffix == ".csv":
            ends = [string_ids(source), string_ids(target)]
        nodes = len(np.union1d(source, target))
    else:
        graph = datasets.load(file.path.stem, graphs.data_dir()).graph
        upper = sp.triu(graph.to_scipy()).tocoo()
        ends = [graph.ids.take(pa.array(end)) for end in (upper.row, upper.col)]
        nodes = graph._connected
    writer: Callable[..., None] = write_csv if file.path.suffix == ".csv" else write_parquet
    writer(path, *ends)
    return {"nodes": nodes, "edges": len(ends[0])}


if __name__ == "__main__":
    print(json.dumps({name: make(file) for name, file in FILES.items()}))
