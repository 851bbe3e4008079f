"""The quality of vectors of new nodes: python -m benchmarks.new_nodes.

A tenth of the nodes is removed from every labeled graph, and the rest is embedded. The removed
nodes get vectors in three ways: from an embedding of the whole graph, from FastRP.embed_new,
and as the mean of their neighbors' vectors. A linear model is trained on a tenth of the labels,
all of existing nodes, and predicts those of the new ones.

For comparison, the model also predicts the other labels of existing nodes: their vectors change as
well if the edges of the removed nodes are missing.
"""

import sys
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, log, write
from benchmarks.quality import DIM, SHARE
from hopvec import Embedding, FastRP, Graph, datasets
from hopvec._native import Stop
from hopvec.datasets import Dataset
from hopvec.evaluate.logistic import one_blas_thread
from hopvec.evaluate.one_vs_rest import choose_c, train_and_score

PATH = RESULTS / "new_nodes.json"
GRAPHS = (
    *("cora", "citeseer", "email-eu-core", "polblogs", "eurosis"),
    *("wikispeedia", "wikipedia-pos", "ppi"),
)
NEW, TRIALS = 0.1, 20  # fraction of new nodes, and number of draws


class Split(NamedTuple):
    """A graph split into existing and new nodes."""

    new: NDArray[np.bool_]
    """A mask of the new nodes, in the order of the ids of the whole graph."""
    graph: Graph
    """The existing nodes and the edges between them."""
    edges: Graph
    """The edges of the new nodes."""


def main() -> int:
    """Embed, classify, and write results after every graph."""
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE, "new": NEW, "trials": TRIALS},
        "graphs": {},
    }
    for name in GRAPHS:
        with one_blas_thread("new_nodes"):
            results["graphs"][name] = scores(datasets.load(name, graphs.data_dir()))
        write(PATH, results)
    return 0


def scores(data: Dataset) -> dict[str, Any]:
    """The macro F1 of every kind of vectors on one graph, and the loss against the whole graph."""
    method = FastRP(dim=DIM)
    joint = method.embed(data.graph)
    kinds = ("joint", "embed_new", "mean", "existing_joint", "existing")
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for trial in range(TRIALS):
        random = np.random.default_rng(trial)
        parts = split(data.graph, random)
        old = method.embed(parts.graph)
        new = method.embed_new(parts.edges, graph=parts.graph, like=old)
        vectors_by = {
            "joint": joint.vectors,
            "embed_new": rows_of(data.graph, old, new),
            "mean": means(data.graph, parts.new, rows_of(data.graph, old)),
            "existing_joint": joint.vectors,
            "existing": rows_of(data.graph, old),
        }
        classes = data.labels.align(joint)
        is_new = parts.new[classes.rows]
        existing = random.permutation(np.flatnonzero(~is_new))
        training, others = np.split(existing, [int(SHARE * len(is_new))])
        for kind, vectors in vectors_by.items():
            tested = others if kind.startswith("existing") else np.flatnonzero(is_new)
            order = np.concatenate([training, tested])
            rows = vectors[classes.rows[order]].astype(np.float64)
            found[kind].append(f1(rows, classes.members[order], len(training)))
    result: dict[str, Any] = {kind: {"macro_f1": mean(values)} for kind, values in found.items()}
    for kind, like in (("embed_new", "joint"), ("mean", "joint"), ("existing", "existing_joint")):
        whole = mean(found[like])
        lost = [100 * (a - b) / whole for a, b in zip(found[like], found[kind], strict=True)]
        result[kind] |= {"loss": mean(lost), "error": stdev(lost) / TRIALS**0.5}
    log(f"{data.name}: {result}")
    return result


def split(graph: Graph, random: np.random.Generator) -> Split:
    """Split a graph: a random tenth of its nodes is new."""
    new = random.random(graph.nodes) < NEW
    entries = graph.to_scipy().tocoo()
    once = entries.row <= entries.col if not graph.directed else np.ones(len(entries.row), bool)
    one, other, weight = entries.row[once], entries.col[once], entries.data[once]
    old = ~new[one] & ~new[other]

    def subgraph(edges: NDArray[np.bool_], nodes: Any = None) -> Graph:
        ends = (graph.ids.take(pa.array(side[edges])) for side in (one, other))
        return Graph.from_edges(*ends, weight[edges], directed=graph.directed, nodes=nodes)

    return Split(new, subgraph(old, graph.ids.filter(pa.array(~new))), subgraph(~old))


def rows_of(graph: Graph, *parts: Embedding) -> NDArray[np.float32]:
    """The vectors of embeddings of parts of a graph, in the order of its ids; 0 if missing."""
    vectors = np.zeros((graph.nodes, DIM), np.float32)
    for part in parts:
        vectors[pc.index_in(part.ids, value_set=graph.ids).to_numpy()] = part.vectors
    return vectors


def means(
    graph: Graph, new: NDArray[np.bool_], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The vectors, where those of new nodes are the normalized means of their neighbors'."""
    theirs = graph.to_scipy()[np.flatnonzero(new)] @ vectors
    lengths = np.linalg.norm(theirs, axis=1, keepdims=True)
    vectors[new] = np.divide(theirs, lengths, out=np.zeros_like(theirs), where=lengths > 0)
    return vectors


def f1(rows: NDArray[np.float64], members: NDArray[np.bool_], training: int) -> float:
    """The macro F1 of a model trained on the first `training` rows, as in `classify`."""
    rows = np.column_stack([rows / np.sqrt(np.mean(rows * rows)), np.ones(len(rows))])
    C = choose_c(rows[:training], members[:training], Stop())  # noqa: N806
    return train_and_score(rows, members, training, C, Stop()).macro_f1


if __name__ == "__main__":
    sys.exit(main())
