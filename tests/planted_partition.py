"""A planted partition: a graph whose nodes link mostly within their own class."""

import numpy as np

import hopvec


def planted_partition(nodes=240, classes=3, degree=8, within=0.8, seed=0):
    """The graph and the labels of its nodes; ids are strings."""
    random = np.random.default_rng(seed)
    own = np.arange(nodes) % classes
    source = random.integers(0, nodes, nodes * degree // 2)
    same = random.random(len(source)) < within
    shift = np.where(same, classes * random.integers(1, nodes // classes, len(source)), 1)
    target = (source + shift) % nodes
    names = [f"n{node}" for node in range(nodes)]
    ends = ([names[node] for node in some] for some in (source, target))
    graph = hopvec.Graph.from_edges(*ends, nodes=names)
    return graph, hopvec.Labels.from_pairs(names, [f"class {c}" for c in own])
