"""hopvec turns a graph into vectors."""

from importlib.metadata import version

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

__version__ = version("hopvec")

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
