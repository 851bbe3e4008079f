"""The graph on a worker: fetched once by each executor, mapped by all of its processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hopvec.graph import Graph
from hopvec.graph.feature_columns import column_sums, measured, standardized
from hopvec.graph.features import FeatureColumns, Features
from hopvec.spark.files import file_system
from hopvec.spark.graph import CHUNK
from hopvec.spark.vectors import rows_of

AT_ONCE = 16  # rows of a table in memory
COPY = "hopvec-copy-"
PAYLOADS = ("neighbors", "weights")

T = TypeVar("T")


_kept: dict[str, dict[str, Any]] = {}


def kept(folder: str, name: str, make: Callable[[], T]) -> T:
    """What this process has made for the run of a folder; it is made once, and for one run."""
    if folder not in _kept:
        _kept.clear()
    made = _kept.setdefault(folder, {})
    if name not in made:
        made[name] = make()
    return made[name]  # type: ignore[no-any-return]


def local_graph(folder: str, nodes: int, directed: bool) -> Graph:
    """The graph whose tables `nodes` and `cells`, of a single block, lie in a folder.

    Its ids are left out: what is computed of it here is by number.
    """
    copy = _local_copy(folder, "graph", lambda place: _fetch_graph(folder, nodes, place))
    counts = _mapped(copy / "counts", np.int32)
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    weights = copy / "weights"
    return Graph(
        indptr=indptr,
        indices=_mapped(copy / "neighbors", np.int32),
        weights=_mapped(weights, np.float32) if weights.exists() else None,
        ids=pa.nulls(nodes),
        rows=np.arange(nodes, dtype=np.int32),
        keys=_mapped(copy / "keys", np.uint64),
        directed=directed,
    )


def local_features(
    folder: str, nodes: int, numbers: tuple[str, ...], categories: tuple[str, ...]
) -> Features:
    """The features of nodes in their order, from the table `nodes` of a folder; bit by bit."""
    columns = {"numbers": len(numbers), "categories": len(categories)}
    copy = _local_copy(
        folder, "features", lambda place: _fetch_features(folder, nodes, columns, place)
    )
    mean, deviation = _mapped(copy / "statistics", np.float64).reshape(2, len(numbers))
    return Features(
        FeatureColumns(numbers, categories, mean, deviation),
        _mapped(copy / "standard", np.float32).reshape(nodes, len(numbers)),
        _mapped(copy / "categories", np.uint64).reshape(nodes, len(categories)),
    )


def local_scales(folder: str, nodes: int, orders: list[int]) -> dict[int, NDArray[np.float32]]:
    """What makes the rows of each order unit, from the table `scales` of a folder."""

    def fetch(place: Path) -> None:
        with (place / "scales").open("wb") as file:
            for row in _rows(f"{folder}/scales", ["chunk", "scales"]):
                scales = np.frombuffer(row["scales"], np.float32).reshape(len(orders), -1)
                for at, scale in enumerate(scales):
                    file.seek(4 * (at * nodes + row["chunk"] * CHUNK))
                    file.write(scale.tobytes())

    copy = _local_copy(folder, "scales", fetch)
    scales = _mapped(copy / "scales", np.float32).reshape(len(orders), nodes)
    return dict(zip(orders, scales, strict=True))


def _local_copy(folder: str, name: str, fetch: Callable[[Path], None]) -> Path:
    """A folder of this executor that `fetch` has filled: one process does, the others wait.

    What earlier runs left is deleted: nobody asks for it any more.
    """
    root = Path(os.environ["SPARK_LOCAL_DIRS"].split(",")[0])  # Spark deletes it in the end
    own = root / (COPY + folder.rpartition("/")[2])
    with _locked(root / f"{COPY}lock"):
        for other in root.glob(f"{COPY}*"):
            if other.is_dir() and other != own:
                shutil.rmtree(other, ignore_errors=True)
        place = own / name
        if not place.exists():
            part = own / f"{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            fetch(part)
            part.rename(place)
    return place


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch_graph(folder: str, nodes: int, place: Path) -> None:
    """Writes keys, counts of neighbors, neighbors and their weights, nodes in their order."""
    keys, counts = np.empty(nodes, np.int64), np.zeros(nodes, np.int32)
    for row in _rows(f"{folder}/nodes", ["chunk", "keys"]):
        some = np.frombuffer(row["keys"], np.int64)
        keys[row["chunk"] * CHUNK :][: len(some)] = some
    sizes: dict[tuple[int, int], int] = {}
    for row in _rows(f"{folder}/cells", ["chunk", "first_place", "first_neighbor", "counts"]):
        some = np.frombuffer(row["counts"], np.int32)
        counts[row["chunk"] * CHUNK :][: len(some)] += some
        sizes[row["first_place"], row["first_neighbor"]] = int(some.sum())
    in_order = sorted(sizes)
    starts = np.cumsum([0, *(sizes[piece] for piece in in_order)])
    start_of = dict(zip(in_order, starts.tolist(), strict=False))
    keys.tofile(place / "keys")
    counts.tofile(place / "counts")
    with ExitStack() as stack:
        files = {"neighbors": stack.enter_context((place / "neighbors").open("wb"))}
        for row in _rows(f"{folder}/cells", ["first_place", "first_neighbor", *PAYLOADS]):
            for name in PAYLOADS:
                if row[name] is None:
                    continue
                if name not in files:
                    files[name] = stack.enter_context((place / name).open("wb"))
                files[name].seek(4 * start_of[row["first_place"], row["first_neighbor"]])
                files[name].write(row[name])


def _fetch_features(folder: str, nodes: int, columns: dict[str, int], place: Path) -> None:
    """Writes categories, standard numbers, and the mean and deviation that they had before."""
    with ExitStack() as stack:
        files = {name: stack.enter_context((place / name).open("wb")) for name in columns}
        for row in _rows(f"{folder}/nodes", ["chunk", *columns], at_once=1):
            for name, file in files.items():
                file.seek(8 * columns[name] * CHUNK * row["chunk"])
                file.write(row[name])
    numbers = _mapped(place / "numbers", np.float64).reshape(nodes, columns["numbers"])
    parts = [numbers[first : first + CHUNK] for first in range(0, nodes, CHUNK)]
    mean, deviation = measured(lambda mean: column_sums(parts, columns["numbers"], mean))
    np.stack([mean, deviation]).tofile(place / "statistics")
    with (place / "standard").open("wb") as file:
        for some in parts:
            file.write(standardized(some, mean, deviation).tobytes())
    (place / "numbers").unlink()


def _rows(uri: str, columns: list[str], at_once: int = AT_ONCE) -> Iterator[dict[str, Any]]:
    """The rows of a table that Spark has written, a few at a time."""
    system, path = file_system(uri)
    for info in system.get_file_info(pa.fs.FileSelector(path)):
        if info.base_name.endswith(".parquet"):
            with system.open_input_file(info.path) as file:
                yield from rows_of(pq.ParquetFile(file).iter_batches(at_once, columns=columns))


def _mapped(path: Path, kind: type[np.generic]) -> NDArray[Any]:
    """A file as an array; the system keeps in memory what is used of it."""
    if path.stat().st_size == 0:
        return np.empty(0, kind)
    return np.asarray(np.memmap(path, kind, "r"))
