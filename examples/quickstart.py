"""Embed a small graph, find nearest neighbors, and save the vectors.

pip install hopvec
python examples/quickstart.py
"""

import hopvec
from hopvec import FastRP, Graph

# Two groups of friends; cem and dan know each other.
FRIENDS = [
    ("ann", "bob"),
    ("ann", "cem"),
    ("bob", "cem"),
    ("cem", "dan"),
    ("dan", "eve"),
    ("dan", "fay"),
    ("eve", "fay"),
]


def main() -> None:
    """Embed the graph and print the neighbors of two nodes."""
    source, target = zip(*FRIENDS, strict=True)
    graph = Graph.from_edges(source, target)
    print(graph)

    embedding = FastRP(dim=16, sparsity=3, seed=7).embed(graph)
    for name in ("ann", "eve"):
        neighbors = embedding.nearest(name, 2)
        print(name, "is close to", ", ".join(f"{id} ({cosine:.2f})" for id, cosine in neighbors))

    embedding.save("vectors.parquet")  # with ids and parameters
    print(hopvec.load("vectors.parquet"))


if __name__ == "__main__":
    main()
