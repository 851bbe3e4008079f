"""Columns of node features: encoding, standardization, and the errors for invalid values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.graph.columns import find_id_column, is_pandas_index
from hopvec.graph.ids import keys

MAX_ABS = 1e30
MIN_DEVIATION = 2.0**-40  # relative to the size of the values; below it is rounding error


def choose_id_column(names: Sequence[str], requested: str | None) -> str | None:
    """Return the requested id column, else the one with a usual name; None if there is none."""
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise GraphError(f"features: two columns are named {duplicate!r}; rename one of them.")
    if requested is None:
        return find_id_column(names)
    if requested not in names:
        raise GraphError(
            f"features: there is no column {requested!r} for the ids; the columns are "
            f"{', '.join(names)}."
        )
    return requested


def feature_names(names: Iterable[str], id_column: str | None) -> list[str]:
    """The feature columns: all except the ids and an index column written by pandas."""
    return [name for name in names if name != id_column and not is_pandas_index(name)]


def flatten_lists(table: pa.Table, lengths: Mapping[str, int]) -> dict[str, pa.ChunkedArray]:
    """The columns of a table by name, with list columns split into one column per entry."""
    import pyarrow.compute as pc

    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if name not in lengths:
            columns[name] = column
        for index in range(lengths.get(name, 0)):
            columns[f"{name}.{index}"] = pc.list_element(column, index)
    return columns


def to_numbers(
    column: NDArray[np.generic] | pa.ChunkedArray,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The numbers of a column, NaN for missing values, and a mask of the invalid ones."""
    if isinstance(column, np.ndarray):
        values, present = column.astype(np.float64), np.ones(len(column), dtype=bool)
    else:
        present = ~column.is_null().to_numpy()
        values = column.cast(pa.float64(), safe=False).to_numpy()
    return np.where(present, values, np.nan), present & ~(np.abs(values) <= MAX_ABS)


def category_keys(name: str, column: pa.ChunkedArray) -> NDArray[np.uint64]:
    """XXH64 of the name of a column and each of its values; 0 for missing values."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
    values = encoded.dictionary
    prefix, separator = (pa.scalar(text, pa.large_string()) for text in (name, "\0"))
    value_keys = np.maximum(keys(pc.binary_join_element_wise(prefix, values, separator)), 1)
    row_keys: NDArray[np.uint64] = np.append(value_keys, np.uint64(0))[
        encoded.indices.fill_null(len(values)).to_numpy()
    ]
    return row_keys


def mean_and_deviation(
    sums: Callable[[NDArray[np.float64] | None], tuple[NDArray[np.int64], NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of numeric columns; a deviation within rounding error is 0.

    `sums` computes `column_sums` over all rows. It is called with None, then with the mean.
    """
    count, total = sums(None)
    mean = total / np.maximum(1, count)
    deviation = np.sqrt(sums(mean)[1] / np.maximum(1, count))
    return mean, np.where(deviation > MIN_DEVIATION * np.hypot(mean, deviation), deviation, 0.0)


def column_sums(
    blocks: Iterable[NDArray[np.float64]], columns: int, mean: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The number of values per column, and their sum, or that of squared deviations from `mean`.

    `blocks` are blocks of rows, with NaN for missing values. Rows are added one after the other, so
    the result does not depend on the blocks.
    """
    count, total = np.zeros(columns, np.int64), np.zeros(columns)
    for block in blocks:
        values = block if mean is None else (block - mean) ** 2
        present = ~np.isnan(values)
        count += present.sum(axis=0)
        total = np.cumsum(np.vstack([total, np.where(present, values, 0.0)]), axis=0)[-1]
    return count, total


def standardize(
    values: NDArray[np.float64], mean: NDArray[np.float64], deviation: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Scale columns to mean 0 and variance 1; a constant column becomes 0."""
    standard: NDArray[np.float64] = (values - mean) / np.where(deviation > 0, deviation, np.inf)
    return standard.astype(np.float32)


def check_not_empty(columns: Mapping[str, object]) -> None:
    """Raise GraphError if there are no columns besides the ids."""
    if not columns:
        raise GraphError("features: there is no column besides the ids.")


def empty_id_error(location: str, id_column: str) -> GraphError:
    """The error for a row without an id."""
    return GraphError(f"features, {location}: the id in {id_column!r} is empty.")


def repeated_id_error(node: object) -> GraphError:
    """The error for an id with two rows."""
    return GraphError(f"features: the id {node!r} has more than one row.")


def no_match_error(id_column: str, parameter: str = "id_column") -> GraphError:
    """The error if no row belongs to a node; `parameter` is the argument that names the column."""
    return GraphError(
        f"features: no id in the column {id_column!r} is a node of the graph. Name the id column "
        f"with {parameter}=."
    )


def invalid_number_error(
    location: str, column: str, number: float, advice: str = "use null for a missing value"
) -> GraphError:
    """The error for a number that is NaN, infinite or too large."""
    return GraphError(
        f"features, {location}, column {column!r}: the number {number} is not allowed. Numbers "
        f"must be finite and at most {MAX_ABS:g} in absolute value; {advice}."
    )


def list_length_error(column: str) -> GraphError:
    """The error for lists that cannot be split into columns."""
    return GraphError(f"features: the lists of the column {column!r} differ in length.")


def unsupported_type_error(column: str, dtype: object) -> GraphError:
    """The error for a column that holds neither numbers nor categories."""
    return GraphError(
        f"features: the column {column!r} has the type {dtype}; features are numbers, strings, "
        "categories and booleans. Cast it, or leave it out."
    )
