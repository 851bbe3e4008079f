"""The bundled graph: the packages of Debian 12 and their dependencies."""

from typing import NamedTuple

import pyarrow as pa

from hopvec.graph import Graph


class Packages(NamedTuple):
    """The package graph of Debian and the sections of its packages.

    Attributes
    ----------
    graph : Graph
        The packages and their dependencies.
    labels : pyarrow.StringArray
        The section of each package, in the order of `graph.ids`.

    Examples
    --------
    >>> from hopvec import datasets
    >>> packages = datasets.debian()
    >>> len(packages.labels)
    63436
    """

    graph: Graph
    labels: pa.StringArray


def debian() -> Packages:
    """Load the package graph of Debian 12, labeled with archive sections.

    The packages of bookworm, main, amd64: 63,436 nodes, 294,758 undirected, unweighted edges and 58
    sections; 3,076 packages are isolated.
    An edge means that one package depends on the other or recommends it. The exact rules are in
    scripts/build-debian-graph, which makes the two files from a package index.

    Returns
    -------
    Packages
        A named tuple of the graph and the section of each package.

    Examples
    --------
    >>> from hopvec import datasets
    >>> graph, sections = datasets.debian()
    >>> len(graph.ids), sections[0].as_py()
    (63436, 'games')
    """
    nodes = read_bundled("debian-nodes.parquet")
    edges = read_bundled("debian-edges.parquet")
    names = column(nodes, "name")
    source = names.take(column(edges, "source"))
    target = names.take(column(edges, "target"))
    return Packages(Graph.from_edges(source, target, nodes=names), column(nodes, "section"))


def read_bundled(name: str) -> pa.Table:
    """Read a Parquet file in this directory."""
    from importlib.resources import files

    import pyarrow.parquet as pq

    with files("hopvec.datasets").joinpath(name).open("rb") as stream:
        return pq.read_table(stream)


def column(table: pa.Table, name: str) -> pa.Array:
    """A column as a single array; the bundled files have one chunk per column."""
    return table.column(name).combine_chunks()
