"""Embed nodes that arrive later, and compare two snapshots of a graph.

pip install hopvec
python examples/new_nodes.py
"""

from hopvec import FastRP, Graph
from hopvec.datasets import ChungLu
from hopvec.evaluate import movement


def main() -> None:
    """Embed a graph, then a new node, then the graph of the next day."""
    source, target = next(ChungLu(nodes=1000, edges=8000, seed=7).blocks())
    graph = Graph.from_edges(source, target, duplicates="first", loops="drop")
    method = FastRP(dim=64, sparsity=3, seed=7)
    yesterday = method.embed(graph)

    # A new node has edges to the neighbors of node 5, and becomes similar to it.
    friends = sorted(set(target[source == 5]) | set(source[target == 5]))
    new_edges = Graph.from_edges([1000] * len(friends), friends)
    new = method.embed_new(new_edges, graph=graph, like=yesterday)
    for id, cosine in new.nearest(1000, 3, among=yesterday):
        print(f"close to the new node: {id} ({cosine:.2f})")

    # The next day, the edges of node 5 have disappeared. like= makes the vectors comparable.
    kept = (source != 5) & (target != 5)
    tomorrow = Graph.from_edges(
        [*source[kept], 5], [*target[kept], 6], duplicates="first", loops="drop"
    )
    print(movement(yesterday, method.embed(tomorrow, like=yesterday)))


if __name__ == "__main__":
    main()
