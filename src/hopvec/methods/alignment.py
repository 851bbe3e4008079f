"""Alignment: what runs must share for their vectors to be comparable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopvec.embedding import Embedding
from hopvec.engine.fitted import FittedState
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.features import FeatureColumns
from hopvec.methods.method import RUNTIME_PARAMS, Method

GRAPH_PROPERTIES = ("nodes", "edges", "directed", "weighted", "volume")
"""The properties by which two graphs are recognized as different."""


def shared_state(method: Method, like: Embedding, features: FeatureColumns | None) -> FittedState:
    """The fitted state of an embedding, for a run that makes vectors comparable with it.

    Raises ParameterError if the embedding has none, or has other parameters or features.
    """
    name = type(method).__name__
    if not isinstance(like, Embedding):
        raise ParameterError(f"{name}: like= must be an Embedding, got {like!r}.")
    if like.fitted_state is None:
        raise ParameterError(
            f"{name}: the embedding like= has no fitted state, which comparable vectors must "
            "share. Embed its graph again with FastRP, and save it as .parquet, .arrow, .npy or "
            ".npz."
        )
    own = {"method": name, **method._plain_params()}
    for parameter, value in own.items():
        if parameter not in RUNTIME_PARAMS and like.parameters.get(parameter) != value:
            raise ParameterError(
                f"{name}: {parameter} is {value!r}, but the embedding like= was made with "
                f"{like.parameters.get(parameter)!r}. Comparable vectors need the same parameters."
            )
    theirs = like.fitted_state.features.kinds if like.fitted_state.features else []
    ours = features.kinds if features else []
    if theirs != ours:
        raise ParameterError(
            f"{name}: the embedding like= was made with {_describe_features(theirs)}, but this "
            f"graph has {_describe_features(ours)}. Comparable vectors need the same features."
        )
    if not method._is_complete(like.fitted_state):
        raise ParameterError(
            f"{name}: the fitted state of like= is incomplete for its parameters: the file is "
            "damaged, or all its vectors are zero. Create that embedding again."
        )
    return like.fitted_state


def check_same_graph(graph: Graph, like: Embedding) -> None:
    """Raise GraphError if the metadata of an embedding shows that its graph was another one."""
    properties = graph.describe()
    if any(like.graph.get(name, properties[name]) != properties[name] for name in GRAPH_PROPERTIES):
        raise GraphError(
            f"The embedding was made from a graph with {_describe_graph(like.graph)}, but this "
            f"graph has {_describe_graph(properties)}. New nodes need the graph of the earlier "
            "run, read with the same options."
        )


def _describe_features(names: list[str]) -> str:
    if not names:
        return "no features"
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return f"the features {shown}"


def _describe_graph(properties: Mapping[str, Any]) -> str:
    """The properties that are known; an embedding from elsewhere may lack some."""
    names = {"directed": ("undirected", "directed"), "weighted": ("unweighted", "weighted")}
    counts = [f"{properties[name]:,} {name}" for name in ("nodes", "edges") if name in properties]
    parts = [" and ".join(counts)]
    parts += [words[bool(properties[name])] for name, words in names.items() if name in properties]
    parts += [f"2m = {properties['volume']:,.9g}"] if "volume" in properties else []
    return ", ".join(filter(None, parts))
