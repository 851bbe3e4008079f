"""Compare how well the vectors of several methods predict communities.

pip install 'hopvec[evaluate,baselines]' networkx
python examples/compare_methods.py
"""

import networkx as nx

import hopvec
from hopvec import DeepWalk, FastRP, Graph, Labels, NetMF, RandNE

METHODS = {
    "FastRP": FastRP(dim=64, seed=7),
    "FastRP, paper": FastRP.preset("paper", dim=64, seed=7),
    "RandNE": RandNE(dim=64, seed=7),
    "NetMF": NetMF(dim=64, seed=7),
    "DeepWalk": DeepWalk(dim=64, walks=10, seed=7),
}


def main() -> None:
    """Embed the graph with each method, and print macro and micro F1 on the same shuffles."""
    partition = nx.random_partition_graph([40, 60, 80, 100], 0.08, 0.01, seed=7)
    graph = Graph.from_networkx(partition)
    communities = [str(number) for _, number in partition.nodes(data="block")]
    labels = Labels.from_pairs(list(partition), communities)

    embeddings = {name: method.embed(graph) for name, method in METHODS.items()}
    print(hopvec.evaluate.classify(embeddings, labels, shares=[0.1, 0.5], shuffles=5))


if __name__ == "__main__":
    main()
