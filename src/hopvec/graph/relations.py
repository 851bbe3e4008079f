"""Relations: edges of several types, such as KNOWS and LIKES, merged into one graph.

S_r is the adjacency matrix of the relation r, d_ir the degree of node i in it, and w_r the weight
of the relation. The merged graph has S_ij = sum_r f_ir S_r,ij. The factors depend on `balance`:

    "none"    f_ir = w_r
    "total"   f_ir = (w_r / w) (V / V_r), where V_r is the sum of all entries of S_r, V = sum_r V_r
              and w = sum_r w_r: the relations have the same total, or totals as w_r demands
    "node"    f_ir = (w_r / w_i) (d_i / d_ir), where d_i = sum_r w_r d_ir, and w_i is the sum of w_r
              over the relations of node i: it divides its degree among its relations

With "node", A = D^-1 S is the average of D_r^-1 S_r over the relations of each node, weighted by
w_r. S is then not symmetric, even if all S_r are.

All undirected S_r are built as one graph of pairs (relation, node), all directed ones as another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native, machine
from hopvec.errors import GraphError
from hopvec.graph.arrow import relation_array
from hopvec.graph.csr_builder import CSRBuilder
from hopvec.graph.edge_list import from_numbered_edges, number_edges
from hopvec.graph.entries import entry_chunks
from hopvec.graph.graph import Graph
from hopvec.graph.ids import NumberedEdges, first_missing, keys
from hopvec.graph.relation_edges import Relation, RelationEdges, split
from hopvec.graph.relation_options import Balance, RelationOptions
from hopvec.graph.transpose import BYTES_PER_NODE, Direction, TransposedCSR
from hopvec.graph.validation import MAX_WEIGHT, MIN_WEIGHT, check_options, valid_weights
from hopvec.progress import Progress, no_progress, stage


@dataclass(frozen=True, eq=False)
class Pairs:
    """S_r for some relations r as one graph of pairs (relation, node), in its internal order."""

    graph: Graph
    relation: NDArray[np.int32]
    """[pairs]: the number of the relation, in the order of their names."""
    node: NDArray[np.int32]
    """[pairs]: the position of the node in the ids of the merged graph."""
    factors: NDArray[np.float64] | None = None
    """[pairs]: f_ir; None if all are 1."""

    def weigh(
        self, row: NDArray[np.int32], weight: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """The weights of entries times f_ir of their rows."""
        weights = np.ones(len(row)) if weight is None else weight.astype(np.float64)
        if self.factors is not None:
            weights *= self.factors[row]
        if not valid_weights(weights).all():
            raise GraphError(
                f"The weights of the relations make the weight of an edge smaller than "
                f"{MIN_WEIGHT:g} or larger than {MAX_WEIGHT:g}. Rescale the weights of the edges "
                "or of the relations."
            )
        return weights.astype(np.float32)


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """The relations of a graph, and the adjacency matrix of each.

    `graph.relations.describe()` lists them; FastRP(relations="concat") has columns for each.

    Attributes
    ----------
    kinds : tuple of Relation
        The relations that have a weight, in the order of their names.
    balance : {"none", "total", "node"}
        How they were balanced.
    parts : tuple of Pairs
        The adjacency matrices.
    edges : tuple of int
        The number of distinct edges of each relation.
    shares : tuple of float
        The share of each relation in the sum of all entries of the merged graph.

    Examples
    --------
    >>> from hopvec import Graph
    >>> graph = Graph.from_edges(["a", "a"], ["b", "c"], relation=["KNOWS", "LIKES"])
    >>> graph.relations.names, graph.relations.edges
    (['KNOWS', 'LIKES'], (1, 1))
    """

    kinds: tuple[Relation, ...]
    balance: Balance
    parts: tuple[Pairs, ...]
    edges: tuple[int, ...]
    shares: tuple[float, ...]

    def __repr__(self) -> str:
        names = ", ".join(self.names[:5]) + (", ..." if len(self.names) > 5 else "")
        return f"Relations({names})"

    @property
    def names(self) -> list[str]:
        """The names, ascending."""
        return [kind.name for kind in self.kinds]

    @property
    def nbytes(self) -> int:
        """The memory of the adjacency matrices, without those in files."""
        matrices = sum(0 if part.graph._mapped else part.graph.nbytes for part in self.parts)
        return matrices + sum(48 * len(part.node) for part in self.parts)

    def describe(self) -> dict[str, Any]:
        """Return the edges, the weight, the share and the direction of each relation.

        Returns
        -------
        dict
            Ready for a report or JSON; `share` is that in the sum of all weights of the graph.

        Examples
        --------
        >>> from hopvec import Graph
        >>> graph = Graph.from_edges(["a", "a"], ["b", "c"], relation=["KNOWS", "LIKES"])
        >>> graph.relations.describe()["KNOWS"]
        {'edges': 1, 'weight': 1.0, 'share': 0.5, 'direction': 'both'}
        """
        return {
            kind.name: {
                "edges": edges,
                "weight": kind.weight,
                "share": share,
                "direction": kind.direction,
            }
            for kind, edges, share in zip(self.kinds, self.edges, self.shares, strict=True)
        }

    def _csr(
        self,
        graph: Graph,
        number: int,
        direction: Direction,
        threads: int,
        spill_dir: str | PathLike[str] | None = None,
    ) -> TransposedCSR:
        """S_r of one relation in a direction, in the internal order of the merged graph."""
        undirected = self.kinds[number].direction == "both"
        builder = CSRBuilder(
            nodes=graph.nodes,
            directed=undirected or direction != "both",  # an undirected S_r has every entry
            duplicates="sum",
            drop_loops=False,
            threads=threads,
            memory_limit=max(8 << 20, BYTES_PER_NODE * graph.nodes) if graph._mapped else None,
            spill_dir=spill_dir,
        )
        entries = _EntriesOfRelation(self, graph, number, reverse=direction == "in")
        csr = machine.interruptible(partial(builder.sort_edges, entries))
        symmetric = undirected or direction == "both"
        return TransposedCSR(*csr, symmetric=symmetric)

    def _without(self, graph: Graph, is_out: Callable[[Any, Any], NDArray[np.bool_]]) -> Graph:
        """The merged graph without some edges; is_out(u, v) is a mask of pairs of positions."""
        parts = [_without_edges(part, is_out) for part in self.parts]
        return _merge(parts, self.kinds, self.balance, graph.ids)


def merge_relations(
    edges: RelationEdges,
    ids: pa.Array,
    positions: NDArray[np.int32] | None,
    *,
    duplicates: str = "sum",
    loops: str = "keep",
    threads: int | None = None,
    memory_limit: int | None = None,
    in_file: bool = False,
    spill_dir: str | PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> Graph:
    """Build a graph from edges with relations; release the edges.

    `positions` maps the codes of nodes to positions in `ids`; None if they are the same.
    See CSRBuilder for `memory_limit` and `in_file`; with a limit, all S_r are in spill files.
    """
    edges.check()
    parts: list[Pairs] = []
    stages = [1] * (len(edges.parts) + 1)
    for directed in sorted(edges.parts):
        numbering, pairs = edges.number(edges.parts[directed], ids, positions)
        weights = edges.parts.pop(directed).arrays.weights()
        graph = from_numbered_edges(
            numbering,
            weights,
            directed,
            duplicates,
            loops,
            threads,
            memory_limit=memory_limit,
            in_file=memory_limit is not None,
            spill_dir=spill_dir,
            progress=stage(progress, len(parts), stages),
        )
        parts.append(Pairs(graph, *split(pairs[graph.rows])))
    return _merge(
        parts,
        edges.kinds,
        edges.options.balance,
        ids,
        threads=threads,
        memory_limit=memory_limit,
        in_file=in_file,
        spill_dir=spill_dir,
        progress=stage(progress, len(parts), stages),
    )


def from_edges(
    source: Any,
    target: Any,
    weight: Any,
    relation: Any,
    options: RelationOptions,
    directed: bool,
    duplicates: str,
    loops: str,
    nodes: Any,
    threads: int | None,
) -> Graph:
    """See Graph.from_edges."""
    check_options("Graph.from_edges", directed, duplicates, loops, threads)
    relations = relation_array(pa.array(relation))
    if isinstance(relations, pa.ChunkedArray):
        relations = relations.combine_chunks()
    numbering, weight = number_edges(source, target, weight, nodes)
    if len(relations) != len(numbering.source):
        raise GraphError(
            f"relation must contain one relation per edge: {len(numbering.source):,} edges, got "
            f"{len(relations):,}."
        )
    if (empty := first_missing(relations)) is not None:
        raise GraphError(f"edge {empty + 1}: the relation is empty.")
    edges = RelationEdges(options, bool(directed))
    edges.append(
        relations,
        numbering.numbers(numbering.source).astype(np.int32),
        numbering.numbers(numbering.target).astype(np.int32),
        weight,
        lambda row: f"edge {row + 1}",
    )
    return merge_relations(
        edges, numbering.ids(), None, duplicates=duplicates, loops=loops, threads=threads
    )


def balance_factors(
    balance: Balance,
    weights: NDArray[np.float64],
    relation: NDArray[np.int32],
    node: NDArray[np.int32],
    degrees: NDArray[np.float64],
    nodes: int,
) -> NDArray[np.float64]:
    """f_ir for every pair of a relation r and a node i, by the formulas above.

    `weights` are w_r, `degrees` are d_ir of the pairs. A node has the relations in which its degree
    is positive; f_ir is 0 for the others.
    """
    weight = weights[relation]
    if balance == "none":
        return weight
    degrees = _rounded(degrees)
    if balance == "total":
        totals = _rounded(np.bincount(relation, degrees, len(weights)))
        return total_factors(weights, totals)[relation]
    degree = np.bincount(node, weight * degrees, nodes)
    has = degrees > 0
    weight_of_node = np.bincount(node, weight * has, nodes)
    numerator = weight * degree[node]
    return np.divide(numerator, weight_of_node[node] * degrees, out=np.zeros(len(node)), where=has)


def total_factors(weights: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """f_r of "total" for every relation, given w_r and V_r; 0 for a relation without edges."""
    has = totals > 0
    share = weights / weights[has].sum() * totals.sum()
    factors: NDArray[np.float64] = np.divide(share, totals, out=np.zeros_like(totals), where=has)
    return factors


def _rounded(sums: NDArray[Any]) -> NDArray[np.float64]:
    """Sums rounded to float32, which are the same whatever the order of summation on Spark."""
    return sums.astype(np.float32).astype(np.float64)


def _merge(
    parts: Sequence[Pairs],
    kinds: tuple[Relation, ...],
    balance: Balance,
    ids: pa.Array,
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
    in_file: bool = False,
    spill_dir: str | PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> Graph:
    """Weigh the entries of all S_r, and merge them into one graph."""
    parts = _with_factors(parts, kinds, balance, len(ids))
    builder = CSRBuilder(
        nodes=len(ids),
        directed=True,  # an undirected S_r has every entry
        duplicates="sum",
        drop_loops=False,
        threads=threads or machine.cores(),
        memory_limit=memory_limit,
        in_file=in_file,
        spill_dir=spill_dir,
        progress=progress,
    )
    unmerged = machine.interruptible(partial(builder.place_edges, _WeightedEntries(parts)))
    csr = machine.interruptible(partial(builder.merge, unmerged, lambda: keys(ids)))
    return Graph(
        indptr=csr.indptr,
        indices=csr.indices,
        weights=csr.weights,
        keys=keys(ids)[csr.order],
        ids=ids,
        rows=csr.order,
        directed=any(part.graph.directed for part in parts),
        duplicates=sum(part.graph.duplicates for part in parts),
        loops=sum(part.graph.loops for part in parts),
        zero_weights=sum(part.graph.zero_weights for part in parts),
        relations=Relations(kinds, balance, tuple(parts), *_count(parts, len(kinds))),
    )


def _with_factors(
    parts: Sequence[Pairs], kinds: Sequence[Relation], balance: Balance, nodes: int
) -> list[Pairs]:
    """The parts with f_ir."""
    columns = [(part.relation, part.node, part.graph._node_degrees) for part in parts]
    relation, node, degrees = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.lexsort((node, relation))  # sums must not depend on the order of the pairs
    weights = np.array([kind.weight for kind in kinds])
    factors = np.empty(len(order))
    factors[order] = balance_factors(
        balance, weights, relation[order], node[order], degrees[order], nodes
    )
    all_one = bool((factors[degrees > 0] == 1).all())
    sizes = [len(part.node) for part in parts]
    return [
        replace(part, factors=None if all_one else own)
        for part, own in zip(parts, np.split(factors, np.cumsum(sizes)[:-1]), strict=True)
    ]


def _count(parts: Sequence[Pairs], relations: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The distinct edges of each relation, and its share in the sum of all weighted entries."""
    edges, weights = np.zeros(relations, np.int64), np.zeros(relations)
    for part in parts:
        graph = part.graph
        entries, loops = np.zeros((2, relations), np.int64)
        for row, neighbor, _ in entry_chunks(graph):
            entries += np.bincount(part.relation[row], minlength=relations)
            loops += np.bincount(part.relation[row[row == neighbor]], minlength=relations)
        edges += entries if graph.directed else (entries + loops) // 2
        factors = 1.0 if part.factors is None else part.factors
        weights += np.bincount(part.relation, graph._node_degrees * factors, relations)
    return tuple(edges.tolist()), tuple((weights / (weights.sum() or 1.0)).tolist())


class _WeightedEntries:
    """The entries of all S_r, weighted, as an EdgeSource between the nodes of the merged graph."""

    def __init__(self, parts: Sequence[Pairs]) -> None:
        self._parts = parts
        weighted = any(part.factors is not None or part.graph.weights is not None for part in parts)
        self.weight = np.empty(0, np.float32) if weighted else None  # those of all chunks

    def __len__(self) -> int:
        return sum(part.graph.entries for part in self._parts)

    def chunks(self, size: int, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """See EdgeSource."""
        for part in self._parts:
            for row, neighbor, weight in entry_chunks(part.graph, size):
                ends = part.node[row], part.node[neighbor]
                weights = None if self.weight is None else part.weigh(row, weight)
                yield _native.Edges(*ends, weights, 0, None, directed, drop_loops)


class _EntriesOfRelation:
    """The entries of one S_r as an EdgeSource, in the internal order of the merged graph."""

    def __init__(self, relations: Relations, graph: Graph, number: int, *, reverse: bool) -> None:
        directed = relations.kinds[number].direction != "both"
        self._parts = [part for part in relations.parts if part.graph.directed == directed]
        self._number, self._reverse = number, reverse
        self._internal = np.empty(graph.nodes, np.int32)
        self._internal[graph.rows] = np.arange(graph.nodes, dtype=np.int32)
        self.weight = self._parts[0].graph.weights if self._parts else None

    def __len__(self) -> int:
        return sum(part.graph.entries for part in self._parts)

    def chunks(self, size: int, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """See EdgeSource."""
        for part in self._parts:
            for row, neighbor, weight in entry_chunks(part.graph, size):
                chosen = part.relation[row] == self._number
                ends = [self._internal[part.node[end[chosen]]] for end in (row, neighbor)]
                source, target = reversed(ends) if self._reverse else ends
                weights = None if weight is None else weight[chosen]
                yield _native.Edges(source, target, weights, 0, None, directed, drop_loops)


def _without_edges(part: Pairs, is_out: Callable[[Any, Any], NDArray[np.bool_]]) -> Pairs:
    """The pairs without some edges; see Relations._without."""
    kept = []
    for row, neighbor, weight in entry_chunks(part.graph):
        stays = ~is_out(part.node[row], part.node[neighbor])
        kept.append((row[stays], neighbor[stays], None if weight is None else weight[stays]))
    rows, neighbors, weights = zip(*kept, strict=True)
    pairs = part.graph.ids.take(pa.array(part.graph.rows))
    numbering = NumberedEdges(
        lambda: pairs, len(pairs), np.concatenate(rows), np.concatenate(neighbors)
    )
    weight = None if part.graph.weights is None else np.concatenate(weights)
    graph = from_numbered_edges(numbering, weight, True, "sum", "keep", None)
    graph = replace(graph, directed=part.graph.directed)
    return Pairs(graph, part.relation[graph.rows], part.node[graph.rows])
