"""Ways of embedding a graph, by name. A new method is one file and one line here."""

from hopvec.methods.fastrp import FastRP
from hopvec.methods.method import Method

METHODS: dict[str, type[Method]] = {
    "fastrp": FastRP,
}

__all__ = ["METHODS", "FastRP", "Method"]
