"""Columns that nodes can be colored by: labels, or numbers on a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.labels import LabeledRows

NONE = 65535  # the code of a node without a value
LEVELS = 1024  # of a scale of numbers
MAX_INTEGER_CLASSES = 20  # integer columns with more distinct values are numbers
ABOVE = 0.001  # share of skewed numbers that may exceed their scale
SKEWED = 20.0  # ratio of maximum to median above which the scale is logarithmic


class Column(Protocol):
    """A column that nodes can be colored by."""

    @property
    def name(self) -> str:
        """The name of the column."""

    @property
    def codes(self) -> NDArray[np.uint16]:
        """[nodes]: the class or level of each node, or NONE."""

    def legend(self) -> dict[str, Any]:
        """The meaning of the codes, ready for JSON."""

    def members(self, code: int) -> NDArray[np.uint32]:
        """The nodes of one class."""

    def text(self, node: int) -> str | None:
        """The value of a node as a string; None if it has none."""


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """Classes, the largest first. A node in several classes has the color of the largest."""

    name: str
    codes: NDArray[np.uint16]
    classes: list[str]
    """[classes]: the name of each code."""
    starts: NDArray[np.int64]
    """[classes + 1]: the members of a class are nodes[starts[code] : starts[code + 1]]."""
    nodes: NDArray[np.uint32]
    several: dict[int, list[int]]
    """The classes of the nodes that are in more than one."""

    @staticmethod
    def from_pairs(
        name: str, count: int, nodes: NDArray[Any], classes: NDArray[Any], names: list[str]
    ) -> LabelColumn:
        """Make a column of `count` nodes; nodes[i] is in the class classes[i]."""
        sizes = np.bincount(classes, minlength=len(names))
        largest_first = np.argsort(-sizes, kind="stable")[:NONE]
        code_of = np.full(len(names), NONE)
        code_of[largest_first] = np.arange(len(largest_first))
        code, nodes = code_of[classes], nodes[code_of[classes] < NONE]
        code = code[code < NONE]
        order = np.lexsort((nodes, code))
        codes = np.full(count, NONE, np.uint16)
        codes[nodes[order[::-1]]] = code[order[::-1]]  # the largest class is written last
        times = np.bincount(nodes, minlength=count)
        several: dict[int, list[int]] = {}
        for at in order[times[nodes[order]] > 1]:
            several.setdefault(int(nodes[at]), []).append(int(code[at]))
        starts = np.concatenate([[0], np.cumsum(sizes[largest_first])])
        listed = [names[at] for at in largest_first]
        return LabelColumn(name, codes, listed, starts, nodes[order].astype(np.uint32), several)

    def legend(self) -> dict[str, Any]:
        """The names and sizes of the classes."""
        return {"kind": "label", "classes": self.classes, "sizes": np.diff(self.starts).tolist()}

    def members(self, code: int) -> NDArray[np.uint32]:
        """The nodes of one class, including those with the color of another class."""
        first, last = self.starts[[code, code + 1]] if code < len(self.classes) else (0, 0)
        return self.nodes[first:last]

    def text(self, node: int) -> str | None:
        """The classes of a node."""
        code = int(self.codes[node])
        if code == NONE:
            return None
        return ", ".join(self.classes[at] for at in self.several.get(node, [code]))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Numbers on a scale from the minimum to the maximum.

    If they are skewed, the scale is logarithmic and ends at the 99.9th percentile.
    """

    name: str
    codes: NDArray[np.uint16]
    values: NDArray[Any]
    low: float
    high: float
    above: bool
    """Whether some numbers exceed the scale."""
    logarithmic: bool

    @staticmethod
    def from_values(name: str, values: NDArray[Any]) -> NumberColumn:
        """Make a column of one number per node; non-finite numbers have no color."""
        finite = np.isfinite(values)
        some = values[finite].astype(np.float64)
        low, high = (float(some.min()), float(some.max())) if len(some) else (0.0, 0.0)
        logarithmic = low >= 0 and high > SKEWED * max(float(np.median(some)), 1e-300)
        if logarithmic:
            high = float(np.quantile(some, 1 - ABOVE, method="higher"))
        scale = np.log1p if logarithmic else np.positive
        span, scaled = float(scale(high - low)) or 1.0, scale(np.minimum(some, high) - low)
        codes = np.full(len(values), NONE, np.uint16)
        codes[finite] = np.minimum(scaled / span * LEVELS, LEVELS - 1)
        above = bool((some > high).any())
        return NumberColumn(name, codes, values, low, high, above, logarithmic)

    def legend(self) -> dict[str, Any]:
        """The ends of the scale."""
        return {
            "kind": "number",
            "low": self.low,
            "high": self.high,
            "above": self.above,
            "logarithmic": self.logarithmic,
            "levels": LEVELS,
        }

    def members(self, code: int) -> NDArray[np.uint32]:
        """An empty array: numbers have no classes."""
        return np.empty(0, np.uint32)

    def text(self, node: int) -> str | None:
        """The number of a node."""
        value = self.values[node].item()
        if not np.isfinite(value):
            return None
        return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def label_column(labeled: LabeledRows, count: int, name: str = "label") -> Column:
    """The column of labels, for an embedding with `count` nodes."""
    row, classes = np.nonzero(labeled.members)
    return LabelColumn.from_pairs(name, count, labeled.rows[row], classes, list(labeled.classes))


def column_of(name: str, values: pa.Array) -> Column | None:
    """A column of a table, as numbers or as classes; None if it is neither."""
    import pyarrow.compute as pc

    kind = values.type
    classes = pa.types.is_integer(kind) and pc.count_distinct(values).as_py() <= MAX_INTEGER_CLASSES
    if pa.types.is_floating(kind) or (pa.types.is_integer(kind) and not classes):
        return NumberColumn.from_values(name, values.to_numpy(zero_copy_only=False))
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None
    try:
        strings = values.cast(pa.large_string()).dictionary_encode()
    except pa.ArrowException:  # intervals, and bytes of other types that are not text
        return None
    given = strings.indices.is_valid().to_numpy(zero_copy_only=False)
    numbers = pc.fill_null(strings.indices, 0).to_numpy()
    return LabelColumn.from_pairs(
        name, len(values), np.flatnonzero(given), numbers[given], strings.dictionary.to_pylist()
    )
