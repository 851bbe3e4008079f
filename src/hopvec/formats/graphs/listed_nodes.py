"""Nodes that a file or `nodes=` lists beside the edges, and the types of all nodes.

A type comes from a list of nodes, else from the prefix of an id. Prefixes are those of a bipartite
graph, or the id spaces of Neo4j, if the input has several: ids are unique within a space only.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.formats.graphs.declared_nodes import check_declared_nodes
from hopvec.formats.graphs.edges import EdgeStream
from hopvec.formats.graphs.nodes import NodeList, node_spaces, read_node_lists
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph.bipartite import add_prefix, side_types
from hopvec.graph.columns import id_space
from hopvec.graph.id_encoder import IdEncoder, parse_integer_ids
from hopvec.graph.ids import arrow_view, missing_mask
from hopvec.graph.node_types import NO_TYPE, type_codes, types_of_codes, types_of_prefixes

logger: logging.Logger = logging.getLogger("hopvec")

CHUNK_IDS = 1 << 20  # ids whose prefixes are compared at a time


class TypedNodes(NamedTuple):
    """The types of some nodes: codes of an IdEncoder, and a string for each."""

    codes: NDArray[np.int32]
    types: pa.Array


def set_prefixes(stream: EdgeStream, options: ReadOptions) -> None:
    """Set the prefixes of the ids of a stream: the given ones, or its id spaces if it has several.

    The metadata of the stream list all prefixes.
    """
    if stream.has_prefixes:
        return
    parts = stream.parts or [stream]
    if options.prefixes is not None:
        stream.prefixes = options.prefixes
        stream.metadata["prefixes"] = list(options.prefixes)
        return
    spaces = [_spaces(part) for part in parts]
    found = {space for both in spaces for space in both}
    if options.one_kind or found == {None}:
        return
    if options.nodes is not None:
        found |= node_spaces(options.nodes)
    if len(found) == 1:
        return
    for part, (source, target) in zip(parts, spaces, strict=True):
        part.prefixes = _prefix(source), _prefix(target)
    stream.metadata["prefixes"] = sorted(_prefix(space) for space in found if space is not None)


def _spaces(stream: EdgeStream) -> tuple[str | None, str | None]:
    """The id spaces of sources and targets, which the names of their columns contain."""
    columns = stream.metadata.get("columns") or {}
    return id_space(columns.get("source", "")), id_space(columns.get("target", ""))


def _prefix(space: str | None) -> str:
    return "" if space is None else f"{space}:"


def declared_nodes(name: str, stream: EdgeStream, edges: int, *, limited: bool) -> int:
    """The largest number of nodes that a file declares without listing them, checked."""
    declared = [part.nodes for part in stream.parts or [stream] if isinstance(part.nodes, int)]
    for nodes in declared:
        check_declared_nodes(name, nodes, edges, limited=limited)
    return max(declared, default=0)


def add_nodes(
    name: str, encoder: IdEncoder, stream: EdgeStream, options: ReadOptions
) -> list[TypedNodes]:
    """Add the nodes that the file lists, and those of `options.nodes`; return their types."""
    given = [] if options.nodes is None else read_node_lists(options.nodes, options.node_type)
    own = list(_own_nodes(stream))
    if options.prefixes is not None:  # without a type, a node without edges is on neither side
        own = [nodes for nodes in own if nodes.types is not None]
    typed: list[TypedNodes] = []
    for number, nodes in enumerate([*own, *given]):
        if len(nodes.ids) == 0:
            continue
        try:
            ids = _ids_like_edges(nodes, encoder, stream, options)
            before = len(encoder)
            codes = encoder.encode(ids)
        except GraphError as error:
            raise GraphError(f"{name}, nodes: {error}") from error
        if nodes.types is not None:
            typed.append(TypedNodes(codes, nodes.types))
        # A short list may be that of the isolated nodes; a long one is that of all nodes.
        is_given = number >= len(own)
        if is_given and 0 < before <= 2 * len(ids) and len(encoder) - before == len(ids):
            logger.warning(
                "%s: none of the %s nodes of nodes= has an edge; their ids, such as %r, may be "
                "those of another column.",
                name,
                f"{len(ids):,}",
                ids[0].as_py(),
            )
    return typed


def _own_nodes(stream: EdgeStream) -> Iterator[NodeList]:
    """The nodes that the file lists, or each of several files."""
    for part in stream.parts or [stream]:
        if isinstance(part.nodes, int):
            yield NodeList(arrow_view(np.arange(part.nodes, dtype=np.int64)), part.types)
        elif part.nodes is not None:
            yield NodeList(part.nodes, part.types)


def _ids_like_edges(
    nodes: NodeList, encoder: IdEncoder, stream: EdgeStream, options: ReadOptions
) -> pa.Array:
    """The ids of nodes as the edges have them: with prefixes, and as strings or integers."""
    if options.prefixes is not None:
        return _prefixed_by_type(nodes, options.prefixes)
    if "prefixes" in stream.metadata:
        return add_prefix(nodes.ids, _prefix(nodes.space))
    if stream.untyped and pa.types.is_integer(nodes.ids.type):
        return nodes.ids.cast(pa.large_string())
    if nodes.from_file and encoder.integers:  # a text file does not declare the type of its ids
        return parse_integer_ids(nodes.ids, whole_floats=True)
    return nodes.ids


def _prefixed_by_type(nodes: NodeList, prefixes: tuple[str, str]) -> pa.Array:
    """The ids with the prefix of the side that the type of each node stands for."""
    import pyarrow.compute as pc

    sides = types_of_prefixes(prefixes)
    if nodes.types is None:
        raise GraphError(
            "the type of a node selects its prefix, but these have no types. Choose a column of "
            "types with node_type=."
        )
    side = pc.index_in(nodes.types, value_set=pa.array(sides, pa.large_string()))
    if side.null_count:
        row = int(np.argmax(side.is_null().to_numpy(zero_copy_only=False)))
        raise GraphError(
            f"the type of {nodes.ids[row].as_py()!r} is {nodes.types[row].as_py()!r}, but the "
            f"types of the prefixes are {sides[0]!r} and {sides[1]!r}."
        )
    first, second = (add_prefix(nodes.ids, prefix) for prefix in prefixes)
    return pc.if_else(pc.equal(side, 0), first, second)


def node_types(
    ids: pa.Array,
    numbers: NDArray[np.int32],
    typed: list[TypedNodes],
    stream: EdgeStream,
    is_target: NDArray[np.bool_] | None,
    options: ReadOptions,
) -> pa.DictionaryArray | None:
    """The types of all nodes; `numbers` are the positions of codes in `ids`.

    In a bipartite graph with prefixes, nodes without edges are added to the mask `is_target`.
    """
    if not typed and "prefixes" not in stream.metadata:
        return None
    codes, names = _listed_types(ids, numbers, typed)
    if options.prefixes is not None and is_target is not None:
        sides = types_of_prefixes(options.prefixes)
        if sides[1] in names:
            is_target |= codes == names.index(sides[1])
        return side_types(is_target, options.prefixes)
    for prefix in stream.metadata.get("prefixes", ()):
        names.append(prefix.removesuffix(":"))
        codes[(codes == NO_TYPE) & _starts_with(ids, prefix)] = len(names) - 1
    return types_of_codes(codes, names)


def _listed_types(
    ids: pa.Array, numbers: NDArray[np.int32], typed: list[TypedNodes]
) -> tuple[NDArray[np.int32], list[str]]:
    """The types of nodes that are listed, as positions in a list of names.

    Raises GraphError for a node that is listed with two types.
    """
    codes = np.full(len(ids), NO_TYPE, np.int32)
    if not typed:
        return codes, []
    nodes = numbers[np.concatenate([some.codes for some in typed])]
    columns = [some.types.cast(pa.large_string()) for some in typed]
    listed = pa.concat_arrays(columns)
    is_typed = ~missing_mask(listed)
    nodes, encoded = nodes[is_typed], listed.filter(pa.array(is_typed)).dictionary_encode()
    names, given = encoded.dictionary.to_pylist(), type_codes(encoded)
    codes[nodes] = given
    if (differ := codes[nodes] != given).any():
        row = int(np.argmax(differ))
        node = ids[int(nodes[row])].as_py()
        raise GraphError(
            f"nodes: {node!r} is listed as {names[given[row]]!r} and as "
            f"{names[codes[nodes[row]]]!r}, but a node has one type. If these are different nodes, "
            "give their ids prefixes: bipartite=True and prefixes=('user:', 'item:'), or id spaces "
            "in the headers of Neo4j."
        )
    return codes, names


def _starts_with(ids: pa.Array, prefix: str) -> NDArray[np.bool_]:
    """Mask of the ids with a prefix."""
    import pyarrow.compute as pc

    parts = [
        pc.starts_with(ids.slice(first, CHUNK_IDS), prefix).to_numpy(zero_copy_only=False)
        for first in range(0, len(ids), CHUNK_IDS)
    ]
    mask: NDArray[np.bool_] = np.concatenate([np.zeros(0, bool), *parts])
    return mask
