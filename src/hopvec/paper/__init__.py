"""Reproduces every table and figure of the paper, one module each, with the public API only.

An item is a module of this package with a function `reproduce(cache) -> Section`, and an entry in
ITEMS. reproduce.py runs items, experiment_cache.py stores their results, report.py writes the
report, plot_style.py is the style of its figures; settings.py and published.py hold the parameters
and the results of the paper.
"""

ITEMS = {
    "runtime": "CPU time of FastRP, RandNE, LINE, DeepWalk and node2vec on one thread",
    "classification": "Macro F1 of the five methods, and curves over the share of labels",
    "neighbors": "Nearest neighbors of well-known nodes by three methods",
    "map": "t-SNE maps of three methods, side by side",
    "sensitivity": "F1 over beta, alpha_4 and the dimension",
    "scalability": "CPU time on random graphs over nodes and edges, with fitted lines",
    "projection": "CPU time and F1 by kind of random projection",
}
