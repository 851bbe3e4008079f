"""The bundled graph: the packages of Debian 12 and what they depend on."""

from typing import NamedTuple

import pyarrow as pa

from hopvec.graph import Graph


class Packages(NamedTuple):
    """The graph of packages, and one section a package: labels[i] belongs to graph.ids[i]."""

    graph: Graph
    labels: pa.StringArray


def debian() -> Packages:
    """The package graph of Debian 12 (bookworm, main, amd64), labeled with archive sections.

    63,436 packages, 294,758 undirected, unweighted edges, 58 sections; 3,076 packages are isolated.
    An edge says that one package depends on the other or recommends it. scripts/build-debian-graph
    has the exact rules, and makes the two files anew from a package index.

    >>> graph, sections = debian()
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
    """The table of a Parquet file in this folder."""
    from importlib.resources import files

    import pyarrow.parquet as pq

    with files("hopvec.datasets").joinpath(name).open("rb") as stream:
        return pq.read_table(stream)


def column(table: pa.Table, name: str) -> pa.Array:
    """One column as a single array; the bundled files have one chunk a column."""
    return table.column(name).combine_chunks()
