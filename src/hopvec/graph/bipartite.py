"""Bipartite graphs: two kinds of nodes, such as users and items, that edges lead between."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError
from hopvec.graph.csr_builder import CHUNK
from hopvec.graph.graph import Graph
from hopvec.graph.ids import as_ids
from hopvec.machine import release_pages


def from_bipartite(
    source: Any,
    target: Any,
    weight: Any,
    prefixes: Any,
    duplicates: Any,
    threads: int | None,
) -> Graph:
    """See Graph.from_bipartite."""
    ends = [as_ids(values, name) for values, name in ((source, "source"), (target, "target"))]
    if prefixes is not None:
        both = check_prefixes("Graph.from_bipartite", prefixes)
        ends = [add_prefix(ids, prefix) for ids, prefix in zip(ends, both, strict=True)]
    graph = Graph.from_edges(ends[0], ends[1], weight, duplicates=duplicates, threads=threads)
    places = (_places(ids, graph.ids) for ids in ends)
    return replace(graph, is_target=target_mask(graph.ids, *places))


def target_mask(
    ids: pa.Array,
    source: NDArray[Any],
    target: NDArray[Any],
    table: NDArray[np.int32] | None = None,
) -> NDArray[np.bool_]:
    """Which of the ids are targets of edges whose ends are at these places, or at table[place].

    Raises GraphError naming an id that is a source as well.
    """
    marks = []
    for places in (source, target):
        marked = np.zeros(len(ids), dtype=bool)
        for first in range(0, len(places), CHUNK):
            some = places[first : first + CHUNK]
            marked[some if table is None else table[some]] = True
            release_pages(some)
        marks.append(marked)
    on_both = marks[0] & marks[1]
    if on_both.any():
        wrong = ids[int(np.argmax(on_both))].as_py()
        raise GraphError(
            f"The id {wrong!r} is on both sides of the bipartite graph. If these are different "
            "nodes, tell them apart by prefixes: prefixes=('user:', 'item:'), or --prefixes "
            "user:,item:."
        )
    return marks[1]


def sources_first(
    graph: Graph, one: NDArray[Any], other: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The ends of edges, nodes in the graph's internal order; of sides, the source comes first."""
    if graph.is_target is None:
        return one, other
    turned = graph.is_target[graph.rows[one]]
    return np.where(turned, other, one), np.where(turned, one, other)


def check_prefixes(owner: str, prefixes: Any) -> tuple[str, str]:
    """Two different texts."""
    given = list(prefixes) if isinstance(prefixes, list | tuple) else []
    if len(given) != 2 or not all(isinstance(text, str) for text in given) or len({*given}) < 2:
        raise ParameterError(
            f"{owner}: prefixes must be two different texts, such as ('user:', 'item:'), got "
            f"{prefixes!r}."
        )
    return given[0], given[1]


def add_prefix(ids: NDArray[Any] | pa.Array, prefix: str) -> pa.Array:
    """The ids as texts that begin with the prefix."""
    import pyarrow.compute as pc

    texts = pa.array(ids).cast(pa.large_string())
    return pc.binary_join_element_wise(
        pa.scalar(prefix, pa.large_string()), texts, pa.scalar("", pa.large_string())
    )


def _places(ids: NDArray[Any] | pa.Array, known: pa.Array) -> NDArray[Any]:
    import pyarrow.compute as pc

    places: NDArray[Any] = pc.index_in(pa.array(ids).cast(known.type), value_set=known).to_numpy()
    return places
