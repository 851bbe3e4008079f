"""RelationEdges: edges with relations as they are read, with codes in place of their ends.

The ends are pairs of a relation and a node. So edges of different relations never repeat each
other, and the degree of a pair is that of the node in the relation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.graph.age_weights import EdgeTimes
from hopvec.graph.edge_arrays import EdgeArrays
from hopvec.graph.id_encoder import IdEncoder
from hopvec.graph.ids import NumberedEdges, arrow_view
from hopvec.graph.relation_options import RelationOptions
from hopvec.graph.size import RelationsSize
from hopvec.graph.transpose import Direction

logger: logging.Logger = logging.getLogger("hopvec")

MAX_RELATIONS = 1 << 16
MAX_LISTED = 5  # relations in a message
NODE_BITS = 32  # a pair is relation << NODE_BITS | node


@dataclass(frozen=True)
class Relation:
    """One relation of a graph."""

    name: str
    weight: float
    direction: Direction
    """Which way its edges lead: "out" from source to target, "in" the other way, or "both"."""


@dataclass
class RelationEdges:
    """Edges with relations. Edges of relations with weight 0 are dropped."""

    options: RelationOptions
    directed: bool
    """Whether the edges of a relation without a direction of its own are directed."""
    memory_limit: int | None = None
    """Bytes that each column may take in memory."""
    spill_dir: str | PathLike[str] | None = None
    times: EdgeTimes | None = None
    """How weights depend on age."""
    found: dict[str, Relation] = field(default_factory=dict)
    """The relations that occur, in the order of their codes."""
    parts: dict[bool, PairEdges] = field(default_factory=dict)
    """The edges of undirected relations, and those of directed ones."""

    def append(
        self,
        relation: pa.Array,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
        locate: Callable[[int], str],
        time: NDArray[np.int64] | None = None,
    ) -> None:
        """Add edges between nodes, which are given by codes; `locate` returns where a row is.

        Raises GraphError for a relation that has no weight.
        """
        code = self._codes(relation, locate)
        kinds = list(self.found.values())
        has_weight = np.array([kind.weight > 0 for kind in kinds])[code]
        reverse = np.array([kind.direction == "in" for kind in kinds])[code]
        directed = np.array([kind.direction != "both" for kind in kinds])[code]
        ends = np.where(reverse, target, source), np.where(reverse, source, target)
        for part in (False, True):
            chosen = has_weight & (directed == part)
            if chosen.any():
                if part not in self.parts:
                    self.parts[part] = PairEdges(self.memory_limit, self.spill_dir, self.times)
                weights = None if weight is None else weight[chosen]
                times = None if time is None else time[chosen]
                self.parts[part].append(
                    code[chosen], ends[0][chosen], ends[1][chosen], weights, times
                )

    def _codes(self, relation: pa.Array, locate: Callable[[int], str]) -> NDArray[np.int32]:
        """The codes of relations, in the order of their first occurrence."""
        encoded = relation.dictionary_encode()
        names, indices = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
        self.find(names, lambda number: locate(int(np.argmax(indices == number))))
        codes = {name: code for code, name in enumerate(self.found)}
        found: NDArray[np.int32] = np.array([codes[name] for name in names], np.int32)[indices]
        return found

    def find(
        self, names: Sequence[str], locate: Callable[[int], str] = lambda number: "the edges"
    ) -> None:
        """Add relations; `locate` returns where the one with a number in `names` occurs first."""
        for number, name in enumerate(names):
            if name in self.found:
                continue
            if len(self.found) == MAX_RELATIONS:
                raise GraphError(
                    f"{locate(number)}: there are more than {MAX_RELATIONS:,} relations, such as "
                    f"{name!r}. Choose the column of relations with relation=."
                )
            self.found[name] = self._relation(name, f"{locate(number)}: ")

    def _relation(self, name: str, location: str = "") -> Relation:
        weight = self.options.weight(name, location)
        return Relation(name, weight, self.options.direction(name, directed=self.directed))

    @property
    def kinds(self) -> tuple[Relation, ...]:
        """The relations with a positive weight, in the order of their names.

        Those that the weights name are there even if no edge has them, so that graphs of the same
        data at different times have the same relations.
        """
        found = {name: kind for name, kind in self.found.items() if kind.weight > 0}
        named = {name: self._relation(name) for name in self.options.named}
        return tuple(kind for _, kind in sorted({**named, **found}.items()))

    def check(self) -> None:
        """Raise GraphError if all relations have the weight 0; warn about those without edges."""
        shown = ", ".join(map(repr, sorted(self.found)[:MAX_LISTED]))
        if self.found and not any(kind.weight > 0 for kind in self.found.values()):
            raise GraphError(
                f"All relations have the weight 0 ({shown}). Give one of them a weight with "
                "relation_weights=."
            )
        absent = [name for name in self.options.mentioned if name not in self.found]
        others = [name for name in self.found if name not in self.options.mentioned]
        for name in absent:
            by_lower = {other.lower(): other for other in others}
            if similar := get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75):
                raise GraphError(
                    f"No edge has the relation {name!r}; did you mean {by_lower[similar[0]]!r}?"
                )
        if absent:
            names = ", ".join(map(repr, absent[:MAX_LISTED]))
            more = ", ..." if len(self.found) > MAX_LISTED else ""
            logger.warning(
                "No edge has the relation %s; the relations are %s%s.", names, shown, more
            )

    def number(
        self, part: PairEdges, ids: pa.Array, positions: NDArray[np.int32] | None
    ) -> tuple[NumberedEdges, NDArray[np.int64]]:
        """Number the pairs of a part, and return its edges and the pairs in ascending order.

        `positions` maps the codes of nodes to positions in `ids`; None if they are the same. In a
        pair, relations are numbered by name and nodes by position, so that nothing depends on the
        order of the edges.
        """
        names = [kind.name for kind in self.kinds]
        rank = {name: number for number, name in enumerate(names)}
        ranks = np.array([rank.get(name, -1) for name in self.found], np.int64)
        by_code, number = part.encoder.sorted_ids(untyped=False)
        relation, node = split(by_code.to_numpy())
        pairs = ranks[relation] << NODE_BITS | (node if positions is None else positions[node])
        order = np.argsort(pairs)
        inverse = np.empty(len(order), np.int32)
        inverse[order] = np.arange(len(order), dtype=np.int32)
        pairs = pairs[order]

        def describe(u: int, v: int) -> str:
            relation, node = split(pairs[[u, v]])
            ends = " - ".join(repr(ids[int(end)].as_py()) for end in node)
            return f"the edge {ends} of the relation {names[relation[0]]!r}"

        numbering = NumberedEdges(
            lambda: arrow_view(pairs),
            len(pairs),
            part.arrays.source.array(),
            part.arrays.target.array(),
            table=inverse[number],
            describe=describe,
        )
        return numbering, pairs

    def spill(self) -> None:
        """Move the edges to spill files."""
        for part in self.parts.values():
            part.arrays.spill()

    @property
    def arrays_memory(self) -> int:
        """The memory of the edges that are not in spill files."""
        return sum(part.arrays.memory for part in self.parts.values())

    @property
    def arrays_bytes(self) -> int:
        """The bytes of the edges, wherever they are."""
        return sum(part.arrays.nbytes for part in self.parts.values())

    @property
    def size(self) -> RelationsSize:
        """What determines the memory of the matrices, if they are in spill files."""
        in_memory = 8 * (self.pairs + len(self.parts))
        return RelationsSize(len(self.kinds), self.pairs, self.entries, in_memory)

    @property
    def nbytes(self) -> int:
        """The memory of the codes in bytes."""
        return sum(part.encoder.nbytes for part in self.parts.values())

    @property
    def pairs(self) -> int:
        """The number of pairs of a relation and a node."""
        return sum(len(part.encoder) for part in self.parts.values())

    @property
    def entries(self) -> int:
        """The number of entries of all adjacency matrices, before duplicates are merged."""
        return sum(
            len(part.arrays) * (1 if directed else 2) for directed, part in self.parts.items()
        )


class PairEdges:
    """Edges between pairs of a relation and a node."""

    def __init__(
        self,
        memory_limit: int | None,
        spill_dir: str | PathLike[str] | None,
        times: EdgeTimes | None,
    ) -> None:
        self.encoder: IdEncoder = IdEncoder()
        self.arrays: EdgeArrays = EdgeArrays(memory_limit, spill_dir, times)

    def append(
        self,
        relation: NDArray[np.int32],
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
        time: NDArray[np.int64] | None,
    ) -> None:
        """Encode the pairs, and add the edges."""
        of_relation = relation.astype(np.int64) << NODE_BITS
        ends = (
            self.encoder.encode(arrow_view(of_relation | source)),
            self.encoder.encode(arrow_view(of_relation | target)),
        )
        self.arrays.append(*ends, weight, time)


def split(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The relations and the nodes of pairs."""
    relation = (pairs >> NODE_BITS).astype(np.int32)
    return relation, (pairs & ((1 << NODE_BITS) - 1)).astype(np.int32)
