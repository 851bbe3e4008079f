""".npz files: a scipy sparse matrix, or the arrays src and dst, optionally weight and n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import (
    Batch,
    EdgeStream,
    Matrix,
    check_matrix_options,
    checked_matrix,
)
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.npz_arrays import (
    ZIP_ERRORS,
    check_array,
    ignore_header_warnings,
    read_array,
)

SUFFIXES = (".npz",)
OPTIONS = frozenset({"source", "target", "weight", "unweighted"})

ENDS = (("src", "dst"), ("source", "target"), ("row", "col"), ("edge_index", "edge_index"))
WEIGHTS = ("weight", "weights", "edge_weight", "w")
COUNTS = ("n", "num_nodes", "n_nodes")
BATCH_EDGES = 1 << 18  # edges per batch


def recognize(file: InputFile) -> str | None:
    """A zip archive whose first member is an array."""
    head = file.head
    if head.startswith(b"PK\x03\x04") and b".npy" in head[30:400]:
        return "it is a zip archive of numpy arrays"
    return None


def read_edges(file: InputFile, options: ReadOptions) -> EdgeStream | Matrix:
    """Read a sparse matrix, or the edges in two arrays; if `n` is given, nodes are 0 .. n-1."""
    with open_archive(file) as archive:
        if {"format", "shape", "data"} <= set(archive.files):
            return _sparse(file, archive, options)
        return _edges(Arrays(file.name, archive), options)


@contextmanager
def open_archive(file: InputFile) -> Iterator[Any]:
    """Open the archive; errors while it is open become FormatError."""
    if not file.head.startswith(b"PK"):
        raise FormatError(
            f"{file.name}: this is not an .npz archive; it begins with {file.head[:8]!r}."
        )
    with file.seekable() as binary:
        try:
            archive = np.load(binary, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FormatError(f"{file.name}: this is not an .npz archive.")
            yield archive
        except ZIP_ERRORS as error:
            raise FormatError(f"{file.name}: damaged .npz archive ({error}).") from error
        except ValueError as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{file.name}: this is not an .npz archive ({error}).") from error


class Arrays:
    """The arrays of an archive; errors name the array."""

    def __init__(self, name: str, archive: Mapping[str, NDArray[Any]]) -> None:
        self.name: str = name
        self.names: list[str] = list(archive)
        self._archive = archive

    def get(self, name: str) -> NDArray[Any]:
        """Read an array by name; raise FormatError if it is damaged."""
        try:
            return read_array(self._archive, name)
        except (ValueError, *ZIP_ERRORS) as error:
            raise FormatError(
                f"{self.name}: the array {name!r} cannot be read ({error})."
            ) from error


def _sparse(file: InputFile, archive: Any, options: ReadOptions) -> Matrix:
    import scipy.sparse as sp

    for name in ("source", "target", "weight"):
        if getattr(options, name) is not None:
            raise FormatError(f"{file.name}: this is a sparse matrix, so {name}= does not apply.")
    check_matrix_options(file.name, options)
    try:
        for name in archive.files:
            check_array(archive, name)
        binary = archive.zip.fp
        binary.seek(0)
        with ignore_header_warnings():
            matrix = sp.load_npz(binary)
    except (ValueError, KeyError, AttributeError, TypeError, *ZIP_ERRORS) as error:
        raise FormatError(f"{file.name}: damaged sparse matrix ({error}).") from error
    metadata = {"matrix": f"scipy.sparse, {matrix.format}"}
    return checked_matrix(file.name, matrix, metadata, options.unweighted)


def _edges(arrays: Arrays, options: ReadOptions) -> EdgeStream:
    names = _choose_ends(arrays, options)
    source, target = _read_ends(arrays, names)
    for name, values in zip(names, (source, target), strict=True):
        if values.ndim != 1 or values.dtype.kind not in "iuU":
            raise FormatError(
                f"{arrays.name}: {name!r} must be a one-dimensional array of integers or strings, "
                f"got {values.dtype} of shape {list(values.shape)}."
            )
    if len(source) != len(target):
        raise FormatError(
            f"{arrays.name}: {names[0]!r} and {names[1]!r} must have the same length, got "
            f"{len(source):,} and {len(target):,}."
        )
    weight_name = _choose_weight(arrays, options)
    weight = None if weight_name is None else _weights(arrays, weight_name, len(source))
    count = _count(arrays, source, target)
    used = dict(zip(("source", "target", "weight"), (*names, weight_name), strict=True))
    metadata: dict[str, Any] = {"columns": {role: name for role, name in used.items() if name}}
    ignored = [name for name in arrays.names if name not in (*names, weight_name, *COUNTS)]
    if ignored:
        metadata["ignored"] = ignored
    return EdgeStream(
        _batches(source, target, weight),
        metadata,
        nodes=count,
        locate=lambda edge: f"entry {edge + 1:,} of {' and '.join(dict.fromkeys(names))}",
    )


def _choose_ends(arrays: Arrays, options: ReadOptions) -> tuple[str, str]:
    requested = (options.source, options.target)
    for name in requested:
        if name is not None and name not in arrays.names:
            raise _no_array(arrays, name)
    for pair in ENDS:
        chosen = [str(name or usual) for name, usual in zip(requested, pair, strict=True)]
        if all(name in arrays.names for name in chosen):
            return chosen[0], chosen[1]
    advice = " This looks like an embedding, not a graph." if "vectors" in arrays.names else ""
    raise FormatError(
        f"{arrays.name}: there is neither a sparse matrix nor a pair of arrays such as src and dst "
        f"(source and target, row and col, edge_index); {listing(arrays)}.{advice}"
    )


def _read_ends(
    arrays: Arrays, names: tuple[str, str]
) -> tuple[NDArray[Any], NDArray[Any]] | NDArray[Any]:
    if names[0] != names[1]:
        return arrays.get(names[0]), arrays.get(names[1])
    both = arrays.get(names[0])
    if both.ndim != 2 or both.shape[0] != 2:
        raise FormatError(
            f"{arrays.name}: {names[0]!r} must have the shape [2, edges], got {list(both.shape)}."
        )
    return both


def _choose_weight(arrays: Arrays, options: ReadOptions) -> str | None:
    if options.unweighted:
        return None
    if options.weight is not None:
        if options.weight not in arrays.names:
            raise _no_array(arrays, options.weight)
        return str(options.weight)
    return next((name for name in WEIGHTS if name in arrays.names), None)


def _weights(arrays: Arrays, name: str, count: int) -> NDArray[Any]:
    weight = arrays.get(name)
    if weight.dtype.kind not in "biuf" or weight.shape != (count,):
        raise FormatError(
            f"{arrays.name}: {name!r} must hold one number per edge ({count:,} edges), got "
            f"{weight.dtype} of shape {list(weight.shape)}."
        )
    return weight


def _count(arrays: Arrays, source: NDArray[Any], target: NDArray[Any]) -> int | None:
    name = next((name for name in COUNTS if name in arrays.names), None)
    if name is None:
        return None
    count = arrays.get(name)
    if count.size != 1 or count.dtype.kind not in "iu" or source.dtype.kind == "U":
        raise FormatError(
            f"{arrays.name}: {name!r} is the number of nodes if the ids are 0 .. {name}-1; got "
            f"{count.dtype} of shape {list(count.shape)} and ids of type {source.dtype}."
        )
    nodes = int(count.reshape(()))
    outside = (source < 0) | (source >= nodes) | (target < 0) | (target >= nodes)
    if outside.any():
        first = int(np.argmax(outside))
        raise FormatError(
            f"{arrays.name}, entry {first + 1:,}: the edge {source[first]} - {target[first]} is "
            f"out of range; with {name} = {nodes:,} ids are 0 to {nodes - 1:,}."
        )
    return nodes


def _batches(
    source: NDArray[Any], target: NDArray[Any], weight: NDArray[Any] | None
) -> Iterator[Batch]:
    for start in range(0, len(source), BATCH_EDGES):
        rows = slice(start, start + BATCH_EDGES)
        numbers = None if weight is None else pa.array(weight[rows].astype(np.float64))
        yield Batch(_ids(source[rows]), _ids(target[rows]), numbers)


def _ids(values: NDArray[Any]) -> pa.Array:
    if values.dtype.kind == "U":
        return pa.array(values.tolist(), pa.large_string())  # Arrow would truncate at nulls
    return pa.array(values if values.dtype == np.uint64 else values.astype(np.int64))


def _no_array(arrays: Arrays, name: str | int) -> FormatError:
    return FormatError(f"{arrays.name}: there is no array {name!r}; {listing(arrays)}.")


def listing(arrays: Arrays) -> str:
    """What an archive holds, for error messages."""
    return f"it holds {', '.join(arrays.names) or 'nothing'}"
