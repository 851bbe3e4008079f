"""FastRP compared with the formulas."""

import oracle
from one_pass import one_pass


def random_matrix(graph, dim, *, sparsity="sqrt", seed=0):
    """R, obtained from FastRP as order 0 with L = 1."""
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    return one_pass(dim=dim, sparsity=sparsity, seed=seed, **alone).embed(graph).vectors


def run(case, *, precision="float32", sparsity="sqrt", seed=0, **formula):
    """The vectors of a graph, and the oracle's."""
    graph = case.graph()
    method = one_pass(precision=precision, sparsity=sparsity, seed=seed, **formula)
    R = random_matrix(graph, formula["dim"], sparsity=sparsity, seed=seed)  # noqa: N806
    return method.embed(graph).vectors, oracle.embed(case.S, R, **formula)
