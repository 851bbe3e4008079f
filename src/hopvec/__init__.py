"""Node embeddings: hopvec turns the nodes of a graph into vectors."""

from importlib import import_module

# The modules of the public names. They are imported on first use, so that `import hopvec` and the
# command line start quickly.
_HOMES = {
    "DatasetError": "errors",
    "DeepWalk": "methods",
    "Embedding": "embedding",
    "Estimate": "methods.estimate",
    "FastRP": "methods",
    "FormatError": "errors",
    "GraRep": "methods",
    "Graph": "graph",
    "GraphError": "errors",
    "HopvecError": "errors",
    "LINE": "methods",
    "Labels": "labels",
    "MemoryLimitError": "errors",
    "MissingExtraError": "errors",
    "NetMF": "methods",
    "Node2Vec": "methods",
    "ParameterError": "errors",
    "Plan": "engine.plan",
    "RandNE": "methods",
    "ReadOptions": "formats.graphs.options",
    "Snapshots": "snapshots",
    "Tuning": "tuning",
    "UnknownNodeError": "errors",
    "datasets": "datasets",
    "embed_snapshots": "snapshots",
    "estimate": "methods.estimate",
    "evaluate": "evaluate",
    "load": "embedding",
    "read_graph": "formats.graphs.read",
    "read_labels": "formats.labels.read",
    "read_sql": "formats.graphs.sql",
    "recommend": "recommendation.recommend",
    "score_pairs": "recommendation.recommend",
    "tune": "tuning",
    "view": "view",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("hopvec")
    if name not in _HOMES:
        raise AttributeError(f"module 'hopvec' has no attribute {name!r}")
    module = import_module(f"hopvec.{_HOMES[name]}")
    value = module if name == _HOMES[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    dunder = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *dunder, "__version__"})
