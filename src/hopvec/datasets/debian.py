"""The bundled graph: the packages of Debian 12 and their dependencies."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.graph import Graph

Rows = NDArray[np.int64]


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
    scripts/build-debian-graph, which makes the two files from a package index. `debian_edges` has
    the same edges with their directions and relations.

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
    source, target = (names.take(pa.array(end)) for end in _distinct_pairs(edges, len(names)))
    return Packages(Graph.from_edges(source, target, nodes=names), column(nodes, "section"))


def debian_edges() -> pa.Table:
    """Load the dependencies between the packages of Debian 12, with their relations.

    A row means that the package `source` names the package `target` in one of three fields of the
    package index: Depends (267,362 rows, including Pre-Depends), Recommends (29,011) and Suggests
    (23,092). Two packages can have several rows. Without Suggests and directions, these are the
    edges of `debian`.

    Returns
    -------
    pyarrow.Table
        The string columns source, target and relation.

    Examples
    --------
    >>> from hopvec import datasets
    >>> edges = datasets.debian_edges()
    >>> edges.num_rows, edges.column_names
    (319465, ['source', 'target', 'relation'])
    >>> set(edges["relation"].to_pylist()) == {"Depends", "Recommends", "Suggests"}
    True
    """
    names = column(read_bundled("debian-nodes.parquet"), "name")
    edges = read_bundled("debian-edges.parquet")
    ends = {end: names.take(column(edges, end)) for end in ("source", "target")}
    return pa.table({**ends, "relation": edges["relation"]})


def _distinct_pairs(edges: pa.Table, nodes: int) -> tuple[Rows, Rows]:
    """The ends of the distinct undirected edges without Suggests, the smaller number first."""
    import pyarrow.compute as pc

    kept = edges.filter(pc.not_equal(edges["relation"], "Suggests"))
    source, target = (column(kept, end).to_numpy() for end in ("source", "target"))
    numbers = np.minimum(source, target).astype(np.int64) * nodes + np.maximum(source, target)
    first, second = np.divmod(np.unique(numbers), nodes)
    return first, second


def read_bundled(name: str) -> pa.Table:
    """Read a Parquet file in this directory."""
    from importlib.resources import files

    import pyarrow.parquet as pq

    with files("hopvec.datasets").joinpath(name).open("rb") as stream:
        return pq.read_table(stream)


def column(table: pa.Table, name: str) -> pa.Array:
    """A column as a single array; the bundled files have one chunk per column."""
    return table.column(name).combine_chunks()
