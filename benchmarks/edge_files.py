"""The edge lists of the file benchmark: python -m benchmarks.edge_files makes them, once.

Power-law graphs, seeded. Every node has an edge, no edge occurs twice, nodes are numbered and edges
are listed at random, as in data that grew over time.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.files import INTEGERS, TEXTS, EdgeFile

Nodes = NDArray[np.int64]


def power_law_edges(nodes: int, edges: int, seed: int = 1) -> tuple[Nodes, Nodes]:
    """Distinct undirected edges without loops; the first end of the first `nodes` is every node."""
    rng = np.random.default_rng(seed)
    keys = np.empty(0, np.int64)  # one number an edge: smaller end * nodes + larger end
    while (missing := edges - len(keys)) > 0:
        one = ranks(rng, nodes, missing)
        if not len(keys):
            one[:nodes] = rng.permutation(nodes)
        other = ranks(rng, nodes, missing)
        other[one == other] = (other[one == other] + 1) % nodes
        keys = distinct(
            np.concatenate([keys, np.minimum(one, other) * nodes + np.maximum(one, other)])
        )
    rng.shuffle(keys)
    number = rng.permutation(nodes)
    one, other = number[keys // nodes], number[keys % nodes]
    swap = rng.random(edges) < 0.5
    return np.where(swap, other, one), np.where(swap, one, other)


def ranks(rng: np.random.Generator, nodes: int, count: int, exponent: float = 2.3) -> Nodes:
    """Nodes drawn with P(rank i) ~ (i + nodes/500)^(-1/(exponent - 1)), the law of chung_lu."""
    power = 1 - 1 / (exponent - 1)
    low, high = (nodes / 500) ** power, (nodes + nodes / 500) ** power
    drawn = (low + rng.random(count) * (high - low)) ** (1 / power) - nodes / 500
    return np.clip(drawn.astype(np.int64), 0, nodes - 1)


def distinct(keys: Nodes) -> Nodes:
    """Sorted, each once."""
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])]


def write_csv(path: Path, file: EdgeFile) -> None:
    """CSV with a header; ids such as user_123456."""
    from pyarrow import csv

    numbers = pa.array(np.arange(file.nodes)).cast(pa.string())
    ids = pc.binary_join_element_wise("user", numbers, "_")
    ends = (ids.take(pa.array(end)) for end in power_law_edges(file.nodes, file.edges))
    with path.open("wb") as out:
        out.write(b"source,target\n")
        options = csv.WriteOptions(include_header=False, quoting_style="none")
        csv.write_csv(pa.table(dict(zip(("source", "target"), ends, strict=True))), out, options)


def write_parquet(path: Path, file: EdgeFile) -> None:
    """Parquet; ids are integers."""
    import pyarrow.parquet as pq

    source, target = power_law_edges(file.nodes, file.edges)
    pq.write_table(pa.table({"source": source, "target": target}), path)


def make(file: EdgeFile, write: Callable[[Path, EdgeFile], None]) -> None:
    """Beside, then rename: an interrupted run leaves nothing half done."""
    if file.path.is_file():
        return
    file.path.parent.mkdir(exist_ok=True)
    unfinished = file.path.with_suffix(f".{os.getpid()}")
    write(unfinished, file)
    unfinished.rename(file.path)


if __name__ == "__main__":
    make(TEXTS, write_csv)
    make(INTEGERS, write_parquet)
