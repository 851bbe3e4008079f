"""Validation of the arguments and weights that a graph is made from."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError

MIN_WEIGHT, MAX_WEIGHT = 1e-30, 1e30  # sums of such weights fit in float32


def check_options(
    owner: str, directed: object, duplicates: object, loops: object, threads: object
) -> None:
    """Raise ParameterError for an invalid option of `from_numbered_edges`."""
    check_choice(owner, "duplicates", duplicates, ("sum", "first", "error"))
    check_choice(owner, "loops", loops, ("keep", "drop"))
    check_flag(owner, "directed", directed)
    check_threads(threads)


def check_choice(owner: str, name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise ParameterError unless a value is one of the allowed ones."""
    if value not in allowed:
        options = ", ".join(repr(option) for option in allowed)
        raise ParameterError(f"{owner}: {name} must be one of {options}, got {value!r}.")


def check_threads(threads: object) -> None:
    """Raise ParameterError unless `threads` is None or a positive integer."""
    if threads is not None and (not isinstance(threads, int | np.integer) or threads < 1):
        raise ParameterError(f"threads must be an integer of at least 1, got {threads!r}.")


def check_flag(owner: str, name: str, value: object) -> None:
    """Raise ParameterError unless a value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{owner}: {name} must be True or False, got {value!r}.")


def checked_weights(weight: Any, source: Any, target: Any) -> NDArray[np.float32]:
    """Return the weights as float32; raise GraphError naming the first invalid one."""
    try:
        values = np.asarray(weight.filled(np.nan) if hasattr(weight, "filled") else weight)
        if values.dtype.kind not in "biufO":
            raise TypeError(f"got {values.dtype}")
        wide = values.dtype.kind == "f" and values.itemsize >= 4  # float16 cannot hold the limits
        numbers = values if wide else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"weight must contain numbers ({error}).") from error
    if numbers.shape != (len(source),):
        raise GraphError(
            f"weight must contain one number per edge: {len(source):,} edges, "
            f"got the shape {values.shape}."
        )
    check_weights(
        numbers, lambda row: f"edge {row + 1} ({_id_at(source, row)} - {_id_at(target, row)})"
    )
    return np.ascontiguousarray(numbers, dtype=np.float32)


def valid_weights(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of the weights that are 0 or within the limits."""
    valid: NDArray[np.bool_] = (numbers >= MIN_WEIGHT) & (numbers <= MAX_WEIGHT) | (numbers == 0)
    return valid


def check_weights(numbers: NDArray[Any], location: Callable[[int], str]) -> None:
    """Raise GraphError with the location of the first NaN, infinite, negative or extreme weight.

    `location` describes a row, such as "edges.csv, line 5".
    """
    valid = valid_weights(numbers)
    if not valid.all():
        first = int(np.argmin(valid))
        raise GraphError(
            f"{location(first)}: the weight {numbers[first]!s} is not allowed. "
            f"A weight must be 0 or between {MIN_WEIGHT:g} and {MAX_WEIGHT:g}."
        )


def _id_at(ids: Any, index: int) -> str:
    return repr(pa.array(ids[index : index + 1])[0].as_py())
