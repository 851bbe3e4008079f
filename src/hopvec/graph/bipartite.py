"""Bipartite graphs, whose edges join two kinds of nodes, such as users and items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError
from hopvec.graph.csr_builder import CHUNK
from hopvec.graph.graph import Graph
from hopvec.graph.ids import as_ids
from hopvec.graph.node_types import NO_TYPE, types_of_codes, types_of_prefixes
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
    positions = (_positions(ids, graph.ids) for ids in ends)
    is_target = target_mask(graph.ids, *positions)
    if prefixes is None:
        return replace(graph, is_target=is_target)
    return replace(
        graph,
        is_target=is_target,
        node_types=side_types(is_target, prefixes),
        origin={"prefixes": list(prefixes)},
    )


def target_mask(
    ids: pa.Array,
    source: NDArray[Any],
    target: NDArray[Any],
    table: NDArray[np.int32] | None = None,
) -> NDArray[np.bool_]:
    """Mask of the ids on the target side.

    `source` and `target` are the ends of the edges: positions in `ids`, or in `table`, which holds
    positions in `ids`. Raises GraphError naming an id that is on both sides.
    """
    masks = []
    for positions in (source, target):
        mask = np.zeros(len(ids), dtype=bool)
        for first in range(0, len(positions), CHUNK):
            chunk = positions[first : first + CHUNK]
            mask[chunk if table is None else table[chunk]] = True
            release_pages(chunk)
        masks.append(mask)
    on_both = masks[0] & masks[1]
    if on_both.any():
        id_ = ids[int(np.argmax(on_both))].as_py()
        raise GraphError(
            f"The id {id_!r} is on both sides of the bipartite graph. If these are different "
            "nodes, distinguish them with prefixes=('user:', 'item:')."
        )
    return masks[1]


def side_types(is_target: NDArray[np.bool_], prefixes: Sequence[str]) -> pa.DictionaryArray | None:
    """The types of the nodes of both sides, named by their prefixes; "" is no type."""
    names = types_of_prefixes(prefixes)
    codes = np.array([at if name else NO_TYPE for at, name in enumerate(names)])
    return types_of_codes(codes[is_target.astype(np.int8)], names)


def sources_first(
    graph: Graph, one: NDArray[Any], other: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The ends of edges, nodes in internal order; in a bipartite graph the source side first."""
    if graph.is_target is None:
        return one, other
    swap = graph.is_target[graph.rows[one]]
    return np.where(swap, other, one), np.where(swap, one, other)


def check_prefixes(owner: str, prefixes: Any) -> tuple[str, str]:
    """Return the prefixes; raise ParameterError unless they are two different strings."""
    given = list(prefixes) if isinstance(prefixes, list | tuple) else []
    if len(given) != 2 or not all(isinstance(prefix, str) for prefix in given) or len({*given}) < 2:
        raise ParameterError(
            f"{owner}: prefixes must be two different strings, such as ('user:', 'item:'), got "
            f"{prefixes!r}."
        )
    return given[0], given[1]


def add_prefix(ids: NDArray[Any] | pa.Array, prefix: str) -> pa.Array:
    """Return the ids as strings that start with the prefix."""
    import pyarrow.compute as pc

    strings = pa.array(ids).cast(pa.large_string())
    return pc.binary_join_element_wise(
        pa.scalar(prefix, pa.large_string()), strings, pa.scalar("", pa.large_string())
    )


def _positions(ids: NDArray[Any] | pa.Array, nodes: pa.Array) -> NDArray[Any]:
    import pyarrow.compute as pc

    found: NDArray[Any] = pc.index_in(pa.array(ids).cast(nodes.type), value_set=nodes).to_numpy()
    return found
