"""Embedding methods by name. A new method is one file and one line here.

method.py           Method, the base class: parameters, embed, fit, transform
estimator.py        Estimator, its base: names of columns, data frames and tags for scikit-learn
slab_method.py      SlabMethod, for methods that compute the embedding slab by slab
fastrp.py           FastRP, with Algorithm 1 of the paper
direction.py        which edges the hops follow: outgoing, incoming or both
alignment.py        what runs must share for comparable vectors (like=)
new_nodes.py        vectors for new nodes (embed_new)
bipartite.py        check of the weights for bipartite graphs
orders.py           cached orders of a graph
presets.py          named sets of parameters
parameters.py       how parameters are declared, checked and documented
estimate.py         memory and time of a run in advance
relations.py        relations="concat": columns for each relation
randne.py, netmf.py, grarep.py, line.py, deepwalk.py, node2vec.py: other methods
dense_method.py     base class of NetMF and GraRep
walk_method.py      base class of DeepWalk and Node2Vec; skip_gram.py trains them
"""

from collections.abc import Mapping
from typing import Any

from hopvec.errors import ParameterError
from hopvec.methods.deepwalk import DeepWalk
from hopvec.methods.fastrp import FastRP
from hopvec.methods.grarep import GraRep
from hopvec.methods.line import LINE
from hopvec.methods.method import Method
from hopvec.methods.netmf import NetMF
from hopvec.methods.node2vec import Node2Vec
from hopvec.methods.randne import RandNE

METHODS: dict[str, type[Method]] = {
    "fastrp": FastRP,
    "randne": RandNE,
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "line": LINE,
    "netmf": NetMF,
    "grarep": GraRep,
}

__all__ = [
    "LINE",
    "METHODS",
    "DeepWalk",
    "FastRP",
    "GraRep",
    "Method",
    "NetMF",
    "Node2Vec",
    "RandNE",
    "method_of",
]


def method_of(parameters: Mapping[str, Any]) -> Method:
    """The method described by the parameters of an embedding, run report or tuning result.

    The values of the parameters are not checked.

    >>> method_of({"method": "FastRP", "dim": 64})
    FastRP(dim=64)
    """
    classes = {method.__name__: method for method in METHODS.values()}
    name = parameters.get("method")
    if name not in classes:
        raise ParameterError(f"There is no method {name!r}; the methods are {', '.join(classes)}.")
    others = ("method", "features")  # not parameters of the method
    given = {key: value for key, value in parameters.items() if key not in others}
    return classes[name]().set_params(**given)
