"""Helpers that read a file with one format and return its edges as Python objects."""

import hopvec
from hopvec.formats.graphs.edges import Matrix
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions


def open_edges(module, path, **options):
    return module.read_edges(InputFile(path), ReadOptions(**options))


def edges_of(stream):
    """(source, target) or (source, target, weight) of every edge."""
    found = []
    for batch in stream.batches:
        columns = [column.to_pylist() for column in batch[:3] if column is not None]
        found += zip(*columns, strict=True)
    return found


def read(module, path, **options):
    return edges_of(open_edges(module, path, **options))


def graph_of(result, **options):
    """A small graph from the result of a format, without the checks of read_graph."""
    if isinstance(result, Matrix):
        return hopvec.Graph.from_scipy(result.matrix, **options)
    edges = edges_of(result)
    source, target, *weight = zip(*edges, strict=True)
    nodes = result.nodes
    if nodes is not None and not isinstance(nodes, int):
        nodes = nodes.to_pylist()
    return hopvec.Graph.from_edges(
        source, target, *weight, nodes=nodes, directed=bool(result.directed), **options
    )


def reason(module, path):
    return module.recognize(InputFile(path))
