"""Recommend packages of Debian, and measure recommendations against baselines.

pip install hopvec
python examples/recommend.py
"""

import logging

import hopvec
from hopvec import FastRP


def main() -> None:
    """Measure on held-out edges, then recommend with all edges."""
    logging.getLogger("hopvec").setLevel(logging.ERROR)  # some packages have no edges
    graph, _ = hopvec.datasets.debian()
    method = FastRP.preset("links", dim=64, seed=7)

    # One edge of each package is held out. Only the rest of the graph is embedded.
    held_out = hopvec.evaluate.hold_out(graph, per_node=True)
    found = hopvec.evaluate.evaluate_recommendation(
        method.embed(held_out.training),
        held_out,
        scores=["cosine", "rp3beta", "most popular"],
        k=[20],
        sample=500,
    )
    print(found)

    # With all edges: what might gimp depend on, or be used by?
    embedding = method.embed(graph)
    for row in hopvec.recommend(embedding, graph, ["gimp"], k=5).to_pylist():
        print(row["recommended"], f"{row['score']:.2f}", row["common_neighbors"])


if __name__ == "__main__":
    main()
