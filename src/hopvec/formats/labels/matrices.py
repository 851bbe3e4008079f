"""Labels of the nodes 0 to n - 1: the matrix `group` of a .mat file, the array `label` of .npz."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.matlab import listing, read_variable
from hopvec.formats.graphs.matlab5 import Variable
from hopvec.formats.graphs.numpy_archive import Arrays, open_archive
from hopvec.formats.graphs.numpy_archive import listing as listed_arrays
from hopvec.formats.labels.tables import LabelOptions
from hopvec.labels import Labels

GROUP = "group"
LABEL, NAMES = "label", "label_names"
MAX_UNLABELED = 10_000_000  # nodes without a label that exist by their number only
MAX_UNUSED = 500_000  # classes without a node


def read_group(file: InputFile, options: LabelOptions) -> Labels:
    """Read the labels of a MATLAB file: row i of `group` is node i, each column is a class."""
    read = read_variable(file, partial(_choose, name=options.variable or GROUP))
    return _from_matrix(read.location, read.matrix, None, read.metadata)


def read_archive(file: InputFile, options: LabelOptions) -> Labels:
    """Read the labels of NumPy arrays: label[i] is the class of node i, negative if it has none.

    `label` can also be a matrix with one row per node and one column per class. `label_names` are
    the names of the classes.
    """
    with open_archive(file) as archive:
        arrays = Arrays(file.name, archive)
        if LABEL not in arrays.names:
            raise FormatError(f"{file.name}: there is no array {LABEL!r}; {listed_arrays(arrays)}.")
        label = arrays.get(LABEL)
        names = [str(n) for n in arrays.get(NAMES).ravel()] if NAMES in arrays.names else None
    location = f"{file.name}, array {LABEL}"
    metadata: dict[str, Any] = {"array": LABEL}
    if label.ndim == 2:
        return _from_matrix(location, label, names, metadata)
    if label.ndim != 1 or label.dtype.kind not in "iu":
        raise FormatError(
            f"{location}: it must have one integer per node, or one row per node and one column "
            f"per class; got {label.dtype} of shape {list(label.shape)}."
        )
    return _from_numbers(location, label, names, metadata)


def _choose(file: str, variables: list[Variable], name: str) -> Variable:
    chosen = next((variable for variable in variables if variable.name == name), None)
    if chosen is None:
        raise FormatError(
            f"{file}: there is no variable {name!r}; the file holds {listing(variables)}. Name the "
            "matrix with one row per node and one column per class with variable=."
        )
    return chosen


def _from_matrix(
    location: str, matrix: Any, names: Sequence[str] | None, metadata: dict[str, Any]
) -> Labels:
    import scipy.sparse as sp

    if matrix.ndim != 2 or matrix.shape[1] < 2 or matrix.dtype.kind not in "biuf":
        size = " x ".join(f"{length:,}" for length in matrix.shape)
        raise FormatError(
            f"{location}: labels must be a matrix with one row per node and one column per class, "
            f"at least two; this one is {size}."
        )
    count, classes = matrix.shape
    if sp.issparse(matrix):
        _check_declared(location, "nodes", "labels", count - matrix.nnz, MAX_UNLABELED)
        _check_declared(location, "classes", "nodes", classes - matrix.nnz, MAX_UNUSED)
        matrix = matrix.copy()  # writable: scipy sorts the entries of a column in place
    members = sp.csr_array(matrix != 0)
    members.eliminate_zeros()
    return Labels(_nodes(count), members, _class_names(location, classes, names), metadata)


def _from_numbers(
    location: str, label: NDArray[Any], names: Sequence[str] | None, metadata: dict[str, Any]
) -> Labels:
    import scipy.sparse as sp

    largest = int(label.max()) if len(label) else -1
    classes = max(0, largest + 1) if names is None else len(names)
    row = np.flatnonzero(label >= 0)
    if len(row) and largest >= classes:
        first = int(np.argmax(label >= classes))
        raise FormatError(
            f"{location}, entry {first + 1:,}: there is no class {label[first]}; the {classes:,} "
            f"classes with names are 0 to {classes - 1:,}."
        )
    _check_declared(location, "classes", "nodes", classes - len(row), MAX_UNUSED)
    entries = (np.ones(len(row), bool), (row, label[row]))
    matrix = sp.csr_array(entries, shape=(len(label), classes))
    return Labels(_nodes(len(label)), matrix, _class_names(location, classes, names), metadata)


def _check_declared(location: str, what: str, of: str, without: int, limit: int) -> None:
    """Raise FormatError before memory is allocated for what a file declares by a number only."""
    if without > limit:
        raise FormatError(
            f"{location}: at least {without:,} {what} have no {of}, but at most {limit:,} are "
            "allowed. Check the size declared in the file."
        )


def _nodes(count: int) -> pa.Array:
    return pa.array(np.arange(count, dtype=np.int64))


def _class_names(location: str, classes: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the classes, or their numbers if they have no names."""
    if names is None:
        return tuple(map(str, range(classes)))
    if len(names) != classes:
        raise FormatError(
            f"{location}: there are {classes:,} classes, but {len(names):,} names in {NAMES}."
        )
    return tuple(names)
