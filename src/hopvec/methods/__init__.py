"""Ways of embedding a graph, by name. A new method is one file and one line here."""

from hopvec.methods.deepwalk import DeepWalk
from hopvec.methods.fastrp import FastRP
from hopvec.methods.line import LINE
from hopvec.methods.method import Method
from hopvec.methods.node2vec import Node2Vec

METHODS: dict[str, type[Method]] = {
    "fastrp": FastRP,
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "line": LINE,
}

__all__ = ["LINE", "METHODS", "DeepWalk", "FastRP", "Method", "Node2Vec"]
