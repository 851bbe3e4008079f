"""How good the vectors of nodes are that come after a run: python -m benchmarks.new_nodes.

A tenth of the nodes is taken out of every labeled graph. The rest is embedded, and the nodes that
were taken out get their vectors in three ways: by an embedding of the whole graph, by
FastRP.embed_new, and as the mean of the vectors of their neighbors. A linear model learns from
a tenth of the labels, all of old nodes, and tells those of the new ones.
"""

import sys
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, say, write
from benchmarks.quality import DIM, GRAPHS, SHARE
from hopvec import Embedding, FastRP, Graph, datasets
from hopvec._native import Stop
from hopvec.datasets import Dataset
from hopvec.evaluate.logistic import one_blas_thread
from hopvec.evaluate.one_vs_rest import choose_c, train_and_score

PATH = RESULTS / "new_nodes.json"
NEW, TRIALS = 0.1, 20  # share of the nodes that come later, and how often they are drawn


class Later(NamedTuple):
    """A graph, some nodes of which come later."""

    new: NDArray[np.bool_]
    """Of the nodes, in the order of the ids of the whole graph."""
    graph: Graph
    """The old nodes and the edges between them."""
    edges: Graph
    """The edges that the new nodes bring."""


def main() -> int:
    """Embed, classify, write after every graph."""
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE, "new": NEW, "trials": TRIALS},
        "graphs": {},
    }
    for name in GRAPHS:
        with one_blas_thread("new_nodes"):
            results["graphs"][name] = scores(datasets.load(name, graphs.data_folder()))
        write(PATH, results)
    return 0


def scores(data: Dataset) -> dict[str, Any]:
    """The macro F1 of every way on one graph, and what is lost against the whole graph."""
    method = FastRP(dim=DIM)
    joint = method.embed(data.graph)
    found: dict[str, list[float]] = {"joint": [], "embed_new": [], "mean": []}
    for trial in range(TRIALS):
        random = np.random.default_rng(trial)
        later = take_out(data.graph, random)
        old = method.embed(later.graph)
        new = method.embed_new(later.edges, graph=later.graph, like=old)
        ways = {
            "joint": joint.vectors,
            "embed_new": rows_of(data.graph, old, new),
            "mean": means(data.graph, later.new, rows_of(data.graph, old)),
        }
        classes = data.labels.align(joint)
        is_new = later.new[classes.rows]
        training = random.permutation(np.flatnonzero(~is_new))[: int(SHARE * len(is_new))]
        order = np.concatenate([training, np.flatnonzero(is_new)])
        for way, vectors in ways.items():
            rows = vectors[classes.rows[order]].astype(np.float64)
            found[way].append(f1(rows, classes.members[order], len(training)))
    whole = mean(found["joint"])
    result: dict[str, Any] = {way: {"macro_f1": mean(values)} for way, values in found.items()}
    for way in ("embed_new", "mean"):
        lost = [
            100 * (one - other) / whole
            for one, other in zip(found["joint"], found[way], strict=True)
        ]
        result[way] |= {"loss": mean(lost), "error": stdev(lost) / TRIALS**0.5}
    say(f"{data.name}: {result}")
    return result


def take_out(graph: Graph, random: np.random.Generator) -> Later:
    """The graph with a random tenth of its nodes still to come."""
    new = random.random(graph.nodes) < NEW
    entries = graph.to_scipy().tocoo()
    once = entries.row <= entries.col if not graph.directed else np.ones(len(entries.row), bool)
    one, other, weight = entries.row[once], entries.col[once], entries.data[once]
    old = ~new[one] & ~new[other]

    def of(edges: NDArray[np.bool_], nodes: Any = None) -> Graph:
        ends = (graph.ids.take(pa.array(side[edges])) for side in (one, other))
        return Graph.from_edges(*ends, weight[edges], directed=graph.directed, nodes=nodes)

    return Later(new, of(old, graph.ids.filter(pa.array(~new))), of(~old))


def rows_of(graph: Graph, *parts: Embedding) -> NDArray[np.float32]:
    """The vectors of embeddings of parts of a graph, in the order of its ids; 0 where none has."""
    vectors = np.zeros((graph.nodes, DIM), np.float32)
    for part in parts:
        vectors[pc.index_in(part.ids, value_set=graph.ids).to_numpy()] = part.vectors
    return vectors


def means(
    graph: Graph, new: NDArray[np.bool_], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The vectors, and for a new node the unit vector of the mean of those of its neighbors."""
    theirs = graph.to_scipy()[np.flatnonzero(new)] @ vectors
    lengths = np.linalg.norm(theirs, axis=1, keepdims=True)
    vectors[new] = np.divide(theirs, lengths, out=np.zeros_like(theirs), where=lengths > 0)
    return vectors


def f1(rows: NDArray[np.float64], members: NDArray[np.bool_], training: int) -> float:
    """The macro F1 behind the first `training` rows, by a model of those; as in `classify`."""
    rows = np.column_stack([rows / np.sqrt(np.mean(rows * rows)), np.ones(len(rows))])
    C = choose_c(rows[:training], members[:training], Stop())  # noqa: N806
    return train_and_score(rows, members, training, C, Stop()).macro_f1


if __name__ == "__main__":
    sys.exit(main())
