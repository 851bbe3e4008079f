"""bad_rows="skip": rows that cannot be edges are dropped, counted by reason, and reported."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.formats.graphs.edges import Batch
from hopvec.graph.ids import missing_mask, numpy_view
from hopvec.graph.validation import valid_weights

logger: logging.Logger = logging.getLogger("hopvec")

SKIP_ADVICE = "Use bad_rows='skip' to skip such rows."
MAX_LISTED = 5  # reasons in the warning


@dataclass
class SkippedRows:
    """The rows that were dropped: how many for each reason, and where the first of them is."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def drop_from(
        self,
        batch: Batch,
        locate: Callable[[int], str],
        bad_times: Mapping[str, NDArray[np.bool_]],
    ) -> Batch:
        """The batch without bad rows; `locate` returns where a row of it is."""
        reasons: dict[int, str] = dict(batch.bad)

        def mark(bad: NDArray[np.bool_], reason: str) -> None:
            for row in np.flatnonzero(bad).tolist():
                reasons.setdefault(row, reason)

        for role, column in batch.names:
            mark(missing_mask(column), f"the {role} is empty")
        if batch.weight is not None:
            weights = numpy_view(batch.weight)
            mark(np.isnan(weights), "the weight is not a number")
            mark(~valid_weights(weights), "the weight is out of range")
        for reason, bad in bad_times.items():
            mark(bad, reason)
        if not reasons:
            return batch
        for row, reason in sorted(reasons.items()):
            self.counts[reason] = self.counts.get(reason, 0) + 1
            self.first.setdefault(reason, locate(row))
        is_good = np.ones(len(batch.source), bool)
        is_good[list(reasons)] = False
        return batch.filter(is_good)

    def report(self, name: str, metadata: dict[str, Any]) -> None:
        """Add the counts to the metadata of the run report, and warn."""
        if not self.counts:
            return
        total = sum(self.counts.values())
        metadata["skipped rows"] = {
            reason: {"rows": count, "first": self.first[reason]}
            for reason, count in self.counts.items()
        }
        rows = "1 row was" if total == 1 else f"{total:,} rows were"
        logger.warning("%s: %s skipped: %s.", name, rows, self.reasons())

    def reasons(self) -> str:
        """The reasons, each with its count and its first row."""
        listed = [
            f"{reason} ({count:,}, first at {self.first[reason]})"
            for reason, count in list(self.counts.items())[:MAX_LISTED]
        ]
        return ", ".join([*listed, *["..."][: len(self.counts) - MAX_LISTED]])
