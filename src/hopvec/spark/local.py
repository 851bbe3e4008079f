"""The graph on a worker: fetched once per executor, memory-mapped by all its processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hopvec.graph import Graph
from hopvec.graph.feature_columns import column_sums, mean_and_deviation, standardize
from hopvec.graph.features import FeatureColumns, Features
from hopvec.graph.relation_edges import Relation
from hopvec.graph.transpose import Direction, TransposedCSR, transposed_csr
from hopvec.spark.files import file_system
from hopvec.spark.node_blocks import CHUNK_NODES
from hopvec.spark.packed import iter_rows

BATCH_ROWS = 16  # rows of a table in memory at a time
COPY_PREFIX = "hopvec-copy-"
CELL_KEY = ("part", "first_position", "first_neighbor")
PAYLOADS = ("neighbors", "weights")

T = TypeVar("T")

_cache: dict[str, dict[str, tuple[int, Any]]] = {}


def cached(directory: str, name: str, make: Callable[[], T], *, version: int = 0) -> T:
    """Make an object once per process and run; a run is identified by its directory.

    The objects of earlier runs are discarded, and so are earlier versions of an object.
    """
    if directory not in _cache:
        _cache.clear()
    made = _cache.setdefault(directory, {})
    if name in made and made[name][0] != version:
        del made[name]
    if name not in made:
        made[name] = version, make()
    return made[name][1]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class LocalRelations:
    """The adjacency matrices of relations, as graphs; it stands in for Graph.relations."""

    kinds: tuple[Relation, ...]
    graphs: tuple[Graph, ...]
    balance: str = "none"
    parts: tuple[()] = ()
    """None: there are no graphs of pairs."""

    @property
    def nbytes(self) -> int:
        """The memory of the matrices: 0, since they are memory-mapped."""
        return 0

    def _csr(
        self,
        graph: Graph,
        number: int,
        direction: Direction,
        threads: int,
        spill_dir: str | PathLike[str] | None = None,
    ) -> TransposedCSR:
        """S_r of one relation in a direction, in the internal order of the merged graph."""
        S_r = self.graphs[number]  # noqa: N806
        if self.kinds[number].direction == "both":
            return TransposedCSR(S_r.indptr, S_r.indices, S_r.weights, symmetric=True)
        if direction == "out":
            return TransposedCSR(S_r.indptr, S_r.indices, S_r.weights, symmetric=False)
        return transposed_csr(S_r, direction, threads, spill_dir=spill_dir)


def local_graph(
    directory: str, nodes: int, directed: bool, relations: tuple[Relation, ...] = ()
) -> Graph:
    """The graph in the tables `nodes` and `cells`, of a single block, of a run.

    It has no ids: workers identify nodes by their index in the internal order.
    """
    parts = 1 + len(relations)
    copy = _local_copy(directory, "graph", lambda path: _fetch_graph(directory, nodes, parts, path))
    graph, *others = (_matrix(copy, part, nodes, directed) for part in range(parts))
    if relations:
        stored: Any = LocalRelations(relations, tuple(others))
        graph = replace(graph, relations=stored)
    return graph


def _matrix(copy: Path, part: int, nodes: int, directed: bool) -> Graph:
    """The graph of a part of the cells."""
    counts = _mapped(copy / f"counts-{part}", np.int32)
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    weights = copy / f"weights-{part}"
    return Graph(
        indptr=indptr,
        indices=_mapped(copy / f"neighbors-{part}", np.int32),
        weights=_mapped(weights, np.float32) if weights.exists() else None,
        ids=pa.nulls(nodes),
        rows=np.arange(nodes, dtype=np.int32),
        keys=_mapped(copy / "keys", np.uint64),
        directed=directed or part > 0,
    )


def local_features(
    directory: str, nodes: int, numbers: tuple[str, ...], categories: tuple[str, ...]
) -> Features:
    """The features of all nodes in the internal order, from the table `nodes` of a run.

    The values are bit-identical to those on one machine.
    """
    columns = {"numbers": len(numbers), "categories": len(categories)}
    copy = _local_copy(
        directory, "features", lambda path: _fetch_features(directory, nodes, columns, path)
    )
    mean, deviation = _mapped(copy / "statistics", np.float64).reshape(2, len(numbers))
    return Features(
        FeatureColumns(numbers, categories, mean, deviation),
        _mapped(copy / "standard", np.float32).reshape(nodes, len(numbers)),
        _mapped(copy / "categories", np.uint64).reshape(nodes, len(categories)),
    )


def local_scales(
    directory: str, table: str, nodes: int, orders: list[int]
) -> dict[int, NDArray[np.float32]]:
    """The factors that give the rows of each order unit length, from a table of a run."""

    def fetch(path: Path) -> None:
        with (path / "scales").open("wb") as file:
            for row in _rows(f"{directory}/{table}", ["chunk", "scales"]):
                scales = np.frombuffer(row["scales"], np.float32).reshape(len(orders), -1)
                for order, scale in enumerate(scales):
                    file.seek(4 * (order * nodes + row["chunk"] * CHUNK_NODES))
                    file.write(scale.tobytes())

    copy = _local_copy(directory, table, fetch, instead_of="scales*")
    scales = _mapped(copy / "scales", np.float32).reshape(len(orders), nodes)
    return dict(zip(orders, scales, strict=True))


def _local_copy(
    directory: str, name: str, fetch: Callable[[Path], None], *, instead_of: str = ""
) -> Path:
    """A local directory filled by `fetch`: one process of the executor does it, the others wait.

    Copies of earlier runs are deleted, since no task needs them any more, and so are those that
    match the pattern `instead_of`.
    """
    root = Path(os.environ["SPARK_LOCAL_DIRS"].split(",")[0])  # Spark deletes it at the end
    run = root / (COPY_PREFIX + directory.rpartition("/")[2])
    with _locked(root / f"{COPY_PREFIX}lock"):
        for other in root.glob(f"{COPY_PREFIX}*"):
            if other.is_dir() and other != run:
                shutil.rmtree(other, ignore_errors=True)
        copy = run / name
        if not copy.exists():
            for other in run.glob(instead_of) if instead_of else ():
                shutil.rmtree(other, ignore_errors=True)
            part = run / f"{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            fetch(part)
            part.rename(copy)
    return copy


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch_graph(directory: str, nodes: int, parts: int, copy: Path) -> None:
    """Write keys, and neighbor counts, neighbors and weights of each part, in internal order."""
    keys, counts = np.empty(nodes, np.int64), np.zeros((parts, nodes), np.int32)
    for row in _rows(f"{directory}/nodes", ["chunk", "keys"]):
        part = np.frombuffer(row["keys"], np.int64)
        keys[row["chunk"] * CHUNK_NODES :][: len(part)] = part
    keys.tofile(copy / "keys")
    sizes: dict[tuple[int, ...], int] = {}
    for row in _rows(f"{directory}/cells", [*CELL_KEY, "chunk", "counts"]):
        some = np.frombuffer(row["counts"], np.int32)
        counts[row["part"], row["chunk"] * CHUNK_NODES :][: len(some)] += some
        sizes[_cell_key(row)] = int(some.sum())
    start_of: dict[tuple[int, ...], int] = {}
    for number, own in enumerate(counts):
        own.tofile(copy / f"counts-{number}")
        cell_keys = sorted(key for key in sizes if key[0] == number)
        starts = np.cumsum([0, *(sizes[key] for key in cell_keys)])
        start_of |= dict(zip(cell_keys, starts.tolist(), strict=False))
    with ExitStack() as stack:
        files = {
            ("neighbors", number): stack.enter_context((copy / f"neighbors-{number}").open("wb"))
            for number in range(parts)
        }
        for row in _rows(f"{directory}/cells", [*CELL_KEY, *PAYLOADS]):
            for name in PAYLOADS:
                if row[name] is None:
                    continue
                file = name, row["part"]
                if file not in files:
                    path = copy / f"{name}-{row['part']}"
                    files[file] = stack.enter_context(path.open("wb"))
                files[file].seek(4 * start_of[_cell_key(row)])
                files[file].write(row[name])


def _cell_key(row: dict[str, Any]) -> tuple[int, ...]:
    """What identifies a row of the cells; those of a part are sorted by it."""
    return tuple(row[name] for name in CELL_KEY)


def _fetch_features(directory: str, nodes: int, columns: dict[str, int], copy: Path) -> None:
    """Write categories, standardized numbers, and the mean and deviation of the numbers."""
    with ExitStack() as stack:
        files = {name: stack.enter_context((copy / name).open("wb")) for name in columns}
        for row in _rows(f"{directory}/nodes", ["chunk", *columns], batch_rows=1):
            for name, file in files.items():
                file.seek(8 * columns[name] * CHUNK_NODES * row["chunk"])
                file.write(row[name])
    numbers = _mapped(copy / "numbers", np.float64).reshape(nodes, columns["numbers"])
    parts = [numbers[first : first + CHUNK_NODES] for first in range(0, nodes, CHUNK_NODES)]
    mean, deviation = mean_and_deviation(lambda mean: column_sums(parts, columns["numbers"], mean))
    np.stack([mean, deviation]).tofile(copy / "statistics")
    with (copy / "standard").open("wb") as file:
        for part in parts:
            file.write(standardize(part, mean, deviation).tobytes())
    (copy / "numbers").unlink()


def _rows(uri: str, columns: list[str], batch_rows: int = BATCH_ROWS) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of a table that Spark has written."""
    system, path = file_system(uri)
    for info in system.get_file_info(pa.fs.FileSelector(path)):
        if info.base_name.endswith(".parquet"):
            with system.open_input_file(info.path) as file:
                yield from iter_rows(pq.ParquetFile(file).iter_batches(batch_rows, columns=columns))


def _mapped(path: Path, dtype: type[np.generic]) -> NDArray[Any]:
    """A memory-mapped file as a read-only array."""
    if path.stat().st_size == 0:
        return np.empty(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))
