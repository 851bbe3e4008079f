"""Labels of the nodes 0 .. n-1: the matrix `group` of a .mat file, the array `label` of .npz."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.matlab import listing, read_variable
from hopvec.formats.graphs.matlab5 import Variable
from hopvec.formats.graphs.numpy_archive import Arrays, open_archive
from hopvec.formats.graphs.numpy_archive import listing as listed_arrays
from hopvec.formats.graphs.source import Source
from hopvec.formats.labels.tables import LabelOptions
from hopvec.labels import Labels

GROUP = "group"
LABEL, NAMES = "label", "label_names"


def read_group(source: Source, options: LabelOptions) -> Labels:
    """The labels of a MATLAB file: row i of `group` is the node i, a column a class."""
    read = read_variable(source, partial(_choose, wanted=options.variable or GROUP))
    return _from_matrix(read.location, read.matrix, None, read.metadata)


def read_archive(source: Source, options: LabelOptions) -> Labels:
    """The labels of numpy arrays: label[i] is the class of the node i, below 0 if it has none.

    Or a matrix with a row a node and a column a class. `label_names` are the names of the classes.
    """
    with open_archive(source) as archive:
        arrays = Arrays(source.name, archive)
        if LABEL not in arrays.names:
            raise FormatError(
                f"{source.name}: there is no array {LABEL!r}; {listed_arrays(arrays)}."
            )
        label = arrays.get(LABEL)
        names = [str(n) for n in arrays.get(NAMES).ravel()] if NAMES in arrays.names else None
    place = f"{source.name}, array {LABEL}"
    metadata: dict[str, Any] = {"array": LABEL}
    if label.ndim == 2:
        return _from_matrix(place, label, names, metadata)
    if label.ndim != 1 or label.dtype.kind not in "iu":
        raise FormatError(
            f"{place}: it must hold one integer a node, or a row a node and a column a class; got "
            f"{label.dtype} in the shape {list(label.shape)}."
        )
    return _from_numbers(place, label, names, metadata)


def _choose(place: str, variables: list[Variable], wanted: str) -> Variable:
    found = next((variable for variable in variables if variable.name == wanted), None)
    if found is None:
        raise FormatError(
            f"{place}: there is no variable {wanted!r}; it holds {listing(variables)}. Name the "
            "matrix that has a row a node and a column a class as the variable."
        )
    return found


def _from_matrix(
    place: str, matrix: Any, names: Sequence[str] | None, metadata: dict[str, Any]
) -> Labels:
    import scipy.sparse as sp

    if matrix.ndim != 2 or matrix.shape[1] < 2 or matrix.dtype.kind not in "biuf":
        size = " x ".join(f"{length:,}" for length in matrix.shape)
        raise FormatError(
            f"{place}: labels are a matrix of a row a node and a column a class, at least two of "
            f"them; this one is {size}."
        )
    count, classes = matrix.shape
    members = sp.csr_array(matrix != 0)
    members.eliminate_zeros()
    return Labels(_nodes(count), members, _named(place, classes, names), metadata)


def _from_numbers(
    place: str, label: NDArray[Any], names: Sequence[str] | None, metadata: dict[str, Any]
) -> Labels:
    import scipy.sparse as sp

    classes = int(label.max(initial=-1)) + 1 if names is None else len(names)
    row = np.flatnonzero(label >= 0)
    if len(row) and label.max() >= classes:
        first = int(np.argmax(label >= classes))
        raise FormatError(
            f"{place}, entry {first + 1:,}: there is no class {label[first]}; with {classes:,} "
            f"names they are 0 to {classes - 1:,}."
        )
    entries = (np.ones(len(row), bool), (row, label[row]))
    matrix = sp.csr_array(entries, shape=(len(label), classes))
    return Labels(_nodes(len(label)), matrix, _named(place, classes, names), metadata)


def _nodes(count: int) -> pa.Array:
    return pa.array(np.arange(count, dtype=np.int64))


def _named(place: str, classes: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the classes, their numbers if they have none."""
    if names is None:
        return tuple(map(str, range(classes)))
    if len(names) != classes:
        raise FormatError(f"{place}: it has {classes:,} classes, and {len(names):,} have names.")
    return tuple(names)
