"""hopvec turns a graph into vectors."""

from hopvec import datasets
from hopvec.embedding import Embedding, load
from hopvec.engine.estimate import Estimate, estimate
from hopvec.engine.plan import Plan
from hopvec.errors import (
    FormatError,
    GraphError,
    HopvecError,
    MemoryBoundError,
    MissingExtraError,
    ParameterError,
    UnknownNodeError,
)
from hopvec.graph import Graph
from hopvec.methods import FastRP

__all__ = [
    "Embedding",
    "Estimate",
    "FastRP",
    "FormatError",
    "Graph",
    "GraphError",
    "HopvecError",
    "MemoryBoundError",
    "MissingExtraError",
    "ParameterError",
    "Plan",
    "UnknownNodeError",
    "datasets",
    "estimate",
    "load",
]


def __getattr__(name: str) -> str:
    """`__version__`, looked up when it is asked for: importlib.metadata is slow to import."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hopvec")
    raise AttributeError(f"module 'hopvec' has no attribute {name!r}")
