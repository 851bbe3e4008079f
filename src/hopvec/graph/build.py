"""From a list of edges to a Graph: everything is checked here, the rows are made natively."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import machine
from hopvec.errors import GraphError, ParameterError
from hopvec.graph.csr_builder import Build, EdgeList
from hopvec.graph.graph import Graph
from hopvec.graph.ids import Numbering, column, keys, number, refuse_collision
from hopvec.progress import Progress, no_progress

SMALLEST, LARGEST = 1e-30, 1e30  # weights whose sums stay inside float32


def build(
    source: Any,
    target: Any,
    weight: Any,
    directed: bool,
    duplicates: str,
    loops: str,
    nodes: Any,
    threads: int | None,
) -> Graph:
    """See Graph.from_edges."""
    check_options("Graph.from_edges", directed, duplicates, loops, threads)
    source, target = column(source, "source"), column(target, "target")
    if len(source) != len(target):
        raise GraphError(
            f"source and target must have the same length, got {len(source):,} and {len(target):,}."
        )
    weight = None if weight is None else checked_weights(weight, source, target)
    numbering = number(source, target, nodes)
    del source, target  # what is no longer needed must not stay beside the rows
    return from_numbering(numbering, weight, directed, duplicates, loops, threads)


def from_numbering(
    numbering: Numbering,
    weight: NDArray[np.float32] | None,
    directed: bool,
    duplicates: str,
    loops: str,
    threads: int | None,
    *,
    room: int | None = None,
    in_file: bool = False,
    progress: Progress = no_progress,
) -> Graph:
    """The graph of edges whose ids are numbered and whose weights are checked; uses the edges up.

    `room` bounds the bytes of entries held in memory at a time, `in_file` keeps the rows in a file;
    see graph/rows.py.
    """
    ids, nodes = numbering.ids, numbering.nodes
    refuse_collision(ids())
    build = Build(
        nodes=nodes,
        directed=bool(directed),
        duplicates=duplicates,
        drop_loops=loops == "drop",
        threads=threads or machine.cores(),
        room=room,
        in_file=in_file,
        progress=progress,
    )
    edges = EdgeList(numbering.source, numbering.target, weight, numbering.offset, numbering.table)
    draft = machine.interruptible(partial(build.draft, edges))
    if duplicates == "error" and draft.repeated:
        raise _duplicate_error(numbering, weight, directed, loops == "drop")
    del edges
    numbering.release()
    rows = machine.interruptible(partial(build.finish, draft, lambda: keys(ids())))
    return Graph(
        indptr=rows.indptr,
        indices=rows.indices,
        weights=rows.weights,
        keys=keys(ids())[rows.order],
        ids=ids(),
        rows=rows.order,
        directed=directed,
        duplicates=draft.repeated,
        loops=draft.loops,
        zero_weights=draft.zeros,
    )


def check_options(
    owner: str, directed: object, duplicates: object, loops: object, threads: object
) -> None:
    """Refuses what from_numbering has no meaning for."""
    for name, value, allowed in (
        ("duplicates", duplicates, ("sum", "first", "error")),
        ("loops", loops, ("keep", "drop")),
    ):
        if value not in allowed:
            options = ", ".join(repr(option) for option in allowed)
            raise ParameterError(f"{owner}: {name} must be one of {options}, got {value!r}.")
    check_flag(owner, "directed", directed)
    check_threads(threads)


def check_threads(threads: object) -> None:
    """Refuses what is no number of threads."""
    if threads is not None and (not isinstance(threads, int | np.integer) or threads < 1):
        raise ParameterError(f"threads must be an integer of at least 1, got {threads!r}.")


def check_flag(owner: str, name: str, value: object) -> None:
    """Refuses what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{owner}: {name} must be True or False, got {value!r}.")


def checked_weights(weight: Any, source: Any, target: Any) -> NDArray[np.float32]:
    """The weights as float32; the first NaN, infinite, negative or extreme one is refused."""
    try:
        values = np.asarray(weight.filled(np.nan) if hasattr(weight, "filled") else weight)
        if values.dtype.kind not in "biufO":
            raise TypeError(f"got {values.dtype}")
        wide = values.dtype.kind == "f" and values.itemsize >= 4  # the bounds are not in float16
        numbers = values if wide else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"weight must hold numbers ({error}).") from error
    if numbers.shape != (len(source),):
        raise GraphError(
            f"weight must have one number an edge: {len(source):,} edges, "
            f"got the shape {values.shape}."
        )
    refuse_weights(
        numbers, lambda row: f"edge {row + 1} ({_shown(source, row)} - {_shown(target, row)})"
    )
    return np.ascontiguousarray(numbers, dtype=np.float32)


def refuse_weights(numbers: NDArray[Any], place: Callable[[int], str]) -> None:
    """Raises GraphError with the place of the first number that is no weight."""
    fine = (numbers >= SMALLEST) & (numbers <= LARGEST) | (numbers == 0)
    if not fine.all():
        first = int(np.argmin(fine))
        raise GraphError(
            f"{place(first)}: the weight {numbers[first]!s} is not allowed. "
            f"A weight is 0 or between {SMALLEST:g} and {LARGEST:g}."
        )


def _shown(ids: Any, index: int) -> str:
    return repr(pa.array(ids[index : index + 1])[0].as_py())


def _duplicate_error(
    numbering: Numbering, weight: NDArray[np.float32] | None, directed: bool, drop_loops: bool
) -> GraphError:
    def numbers(ids: NDArray[Any]) -> NDArray[np.int64]:
        index = ids.astype(np.int64) - numbering.offset
        return index if numbering.table is None else numbering.table[index].astype(np.int64)

    source, target = numbers(numbering.source), numbers(numbering.target)
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    counted = np.ones(len(source), dtype=bool) if weight is None else weight != 0
    if drop_loops:
        counted &= source != target
    edges = np.flatnonzero(counted)
    pair = source[edges] * numbering.nodes + target[edges]
    _, first = np.unique(pair, return_index=True)
    again = int(edges[np.setdiff1d(np.arange(len(pair)), first)[0]])
    ids = numbering.ids()
    ends = " - ".join(repr(ids[int(end[again])].as_py()) for end in (source, target))
    return GraphError(
        f"edge {again + 1} ({ends}) repeats an earlier edge. Use duplicates='sum' to add up their "
        "weights, or duplicates='first' to keep the first."
    )
