"""X: what one pass found, whitened. The next pass starts from it instead of R."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopvec.engine.row_sum import RowSum


@dataclass(frozen=True)
class WhitenedRows:
    """The rows of X, in the graph's internal order."""

    rows: RowSum
    max_abs: float
    """An upper bound of the absolute entries."""
    scale: ClassVar[float] = 1.0
