"""Every table and figure of the paper, one file each, on the public interface only.

An item is a file of this folder that holds `reproduce(cache) -> Section`, and one line here.
"""

ITEMS = {
    "runtime": "CPU time of FastRP, RandNE, LINE, DeepWalk and node2vec on one thread",
    "classification": "Macro F1 of the five methods, and its curves over the share of labels",
    "neighbors": "Nearest neighbors of well-known nodes by three methods",
    "map": "t-SNE maps of three methods side by side",
    "sensitivity": "F1 over beta, alpha_4 and the dimension",
    "scalability": "CPU time on random graphs over nodes and edges, with straight lines",
    "projection": "Time and F1 by the kind of random projection",
}
