"""ReadOptions: how to read a graph file, validated once and passed to every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from difflib import get_close_matches
from os import PathLike
from typing import Any, Literal, TypedDict

from hopvec.errors import ParameterError
from hopvec.graph.age_weights import TimeOptions
from hopvec.graph.bipartite import check_prefixes
from hopvec.graph.build_plan import RunMemory
from hopvec.graph.columns import EDGES, ColumnSpec, PairKind
from hopvec.graph.relation_options import RelationOptions
from hopvec.graph.size import GraphSize
from hopvec.graph.validation import check_choice, check_flag, check_options
from hopvec.machine import memory_limit

OWNER = "read_graph"  # the function that error messages name


class TableKeywords(TypedDict, total=False):
    """The keyword arguments of read_sql: those of read_graph that apply to a table of edges."""

    source: str | int | None
    target: str | int | None
    weight: str | int | None
    unweighted: bool
    relation: str | int | None
    relation_weights: Mapping[str, float] | str | None
    relation_balance: Literal["none", "total", "node"]
    relation_direction: Mapping[str, str] | str | None
    time: str | int | None
    half_life: str | timedelta | None
    as_of: Any
    since: Any
    until: Any
    directed: bool | None
    bipartite: bool
    prefixes: tuple[str, str] | None
    one_kind: bool
    duplicates: Literal["sum", "first", "error"] | None
    loops: Literal["keep", "drop"]
    bad_rows: Literal["error", "skip"]
    nodes: Any
    node_type: str | int | None
    threads: int | None
    memory: str | float | None
    reserve: Callable[[int, int], int] | None
    spill_dir: str | PathLike[str] | None


class ReadKeywords(TableKeywords, total=False):
    """The keyword arguments of read_graph: the fields of ReadOptions that users set."""

    format: str | None
    separator: str | None
    header: bool | None
    comment: str | None
    variable: str | None
    symmetrize: bool


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    r"""Options of `read_graph` as one record, to read several files in the same way.

    The fields are the keywords of `read_graph`, which describes each of them. What is None is
    detected from the file.

    Parameters
    ----------
    format, source, target, weight, unweighted, time
        What the file contains, as in `read_graph`.
    relation, relation_weights, relation_balance, relation_direction
        The relations of the edges, as in `read_graph`.
    half_life, as_of, since, until
        Weights by age and a window of time, as in `read_graph`.
    separator, header, comment, variable
        How the file is read, as in `read_graph`.
    directed, symmetrize, bipartite, one_kind, prefixes, duplicates, loops, bad_rows
        How the graph is built, as in `read_graph`.
    nodes, node_type
        How the graph is built, as in `read_graph`.
    threads, memory, reserve, spill_dir
        Threads and memory, as in `read_graph`.

    Raises
    ------
    ParameterError
        If values are invalid or contradict each other.

    Examples
    --------
    >>> import pathlib, tempfile, hopvec
    >>> path = pathlib.Path(tempfile.mkdtemp(), "edges.csv")
    >>> _ = path.write_text("a;b\nb;c\n")
    >>> options = hopvec.ReadOptions(separator=";", header=False, directed=True)
    >>> hopvec.read_graph(path, options=options)
    Graph(3 nodes, 2 edges, directed, unweighted)
    """

    format: str | None = None
    source: str | int | None = None
    target: str | int | None = None
    weight: str | int | None = None
    unweighted: bool = False
    relation: str | int | None = None
    relation_weights: Mapping[str, float] | str | None = None
    relation_balance: Literal["none", "total", "node"] = "none"
    relation_direction: Mapping[str, str] | str | None = None
    time: str | int | None = None
    half_life: str | timedelta | None = None
    as_of: Any = None
    since: Any = None
    until: Any = None
    separator: str | None = None
    header: bool | None = None
    comment: str | None = None
    variable: str | None = None
    directed: bool | None = None
    symmetrize: bool = False
    bipartite: bool = False
    prefixes: tuple[str, str] | None = None
    one_kind: bool = False
    duplicates: Literal["sum", "first", "error"] | None = None
    loops: Literal["keep", "drop"] = "keep"
    bad_rows: Literal["error", "skip"] = "error"
    nodes: Any = None
    node_type: str | int | None = None
    threads: int | None = None
    memory: str | float | None = None
    reserve: Callable[[int, int], int] | None = None
    spill_dir: str | PathLike[str] | None = None
    _pairs: PairKind = EDGES
    """What the rows of a table hold; readers of labels and of labeled pairs set this."""
    _run_memory: RunMemory | None = None
    """The minimum memory of the run on the graph, more exactly than `reserve`."""
    _query: str | None = None
    """The SQL query, if the graph is in a database; the command line sets this for read_sql."""

    def __post_init__(self) -> None:
        check_options(
            OWNER, self.directed or False, self.duplicates or "sum", self.loops, self.threads
        )
        check_choice(OWNER, "bad_rows", self.bad_rows, ("error", "skip"))
        for name in ("symmetrize", "bipartite", "one_kind"):
            check_flag(OWNER, name, getattr(self, name))
        self._check_bipartite()
        if self.node_type is not None and self.nodes is None:
            raise ParameterError(
                f"{OWNER}: node_type= is a column of the nodes; give nodes= as well."
            )
        _ = self._columns, self._relations, self._times, self._memory_bytes  # raise ParameterError

    @property
    def _columns(self) -> ColumnSpec:
        """The columns that the user requested."""
        return ColumnSpec(
            self.source,
            self.target,
            self.weight,
            self.unweighted,
            self._pairs,
            self.relation,
            self.time,
        )

    @property
    def _relations(self) -> RelationOptions:
        """How relations are weighted, balanced and directed."""
        return RelationOptions.checked(
            OWNER, self.relation_weights, self.relation_balance, self.relation_direction
        )

    @property
    def _times(self) -> TimeOptions:
        """The window of time, and how weights depend on age."""
        return TimeOptions.checked(
            OWNER, self.time, self.half_life, self.as_of, self.since, self.until
        )

    @property
    def _memory_bytes(self) -> int | None:
        """The memory limit in bytes; None if there is none."""
        return memory_limit(self.memory)

    def _min_run_memory(self, size: GraphSize) -> Mapping[str, int]:
        """The minimum memory of the run on a graph, by purpose, the graph included."""
        if self._run_memory is not None:
            return self._run_memory(size)
        needed = 0
        if self.reserve is not None:
            needed = self.reserve(size.nodes, 0 if size.in_file else size.csr)
        return {"the graph": size.resident, "the embedding": needed}

    def _check_bipartite(self) -> None:
        if not self.bipartite:
            if self.prefixes is not None:
                raise ParameterError(f"{OWNER}: prefixes= needs bipartite=True.")
            return
        if self.prefixes is not None:
            check_prefixes(OWNER, self.prefixes)
        if self.one_kind:
            raise ParameterError(
                f"{OWNER}: bipartite=True and one_kind=True contradict each other: leave one of "
                "them out."
            )
        if self.directed:
            raise ParameterError(
                f"{OWNER}: the edges of a bipartite graph are undirected; leave directed=True out."
            )
        if self.nodes is not None and self.prefixes is None:
            raise ParameterError(
                f"{OWNER}: a node without edges is on neither side of a bipartite graph; leave "
                "nodes= out, or give prefixes=, which select the side by the type of a node."
            )


def merge_options(
    function: str,
    options: ReadOptions,
    keywords: Mapping[str, Any],
    allowed: type[TableKeywords],
) -> ReadOptions:
    """Return the options with the keywords applied; raise TypeError for an unknown keyword."""
    names = [field.name for field in fields(options) if field.name in allowed.__annotations__]
    for keyword in keywords:
        if keyword not in names:
            similar = get_close_matches(keyword, names, n=1)
            hint = f"did you mean {similar[0]}=?" if similar else f"choose from {', '.join(names)}."
            raise TypeError(f"{function}() has no argument {keyword!r}; {hint}")
    return replace(options, **keywords)
