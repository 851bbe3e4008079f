"""Ways of embedding a graph, by name. A new method is one file and one line here."""

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
    """The method that an embedding, a run report or `hopvec tune` tells of, unchecked.

    >>> method_of({"method": "FastRP", "dim": 64})
    FastRP(dim=64)
    """
    classes = {method.__name__: method for method in METHODS.values()}
    name = parameters.get("method")
    if name not in classes:
        raise ParameterError(f"There is no method {name!r}; there are {', '.join(classes)}.")
    others = ("method", "features")  # which tell what is embedded by what
    given = {key: value for key, value in parameters.items() if key not in others}
    return classes[name]().set_params(**given)
