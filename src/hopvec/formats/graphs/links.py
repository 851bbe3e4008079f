"""Files of labeled pairs of nodes: two columns of ids, and one that is 1 for an edge, else 0."""

from __future__ import annotations

from os import PathLike

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.edges import Batch
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph.columns import LINKS
from hopvec.progress import Progress


def read_pairs(
    path: str | PathLike[str], *, progress: Progress | None = None
) -> tuple[pa.Table, NDArray[np.bool_]]:
    """Read labeled pairs from text, Parquet or Arrow.

    Returns the pairs as a table with the columns source and target, and a mask of those that are
    edges. The label column is named label, y or weight and holds 1 and 0; without one, all pairs
    are edges. Ids in text are strings.
    """
    with InputFile(path, progress) as file:
        module = next((module for module in (columnar, text) if module.recognize(file)), None)
        if module is None:
            what = f"it begins with {file.head[:8]!r}" if file.head else "it is empty"
            raise FormatError(f"{file.name}: pairs are read from text, Parquet or Arrow; {what}.")
        stream = module.read_edges(file, ReadOptions(pairs=LINKS))
        batches: list[Batch] = []
        rows = 0
        for batch in stream.batches:
            if (missing := batch.first_missing()) is not None:
                row, role = missing
                location = stream.locate(rows + row)
                raise FormatError(f"{file.name}, {location}: the {role} is empty.")
            if (invalid := _first_invalid_label(batch)) is not None:
                raise FormatError(
                    f"{file.name}, {stream.locate(rows + invalid)}: the label must be 1 (an "
                    f"edge) or 0 (not an edge), got {batch.weight[invalid].as_py():g}."
                )
            batches.append(batch)
            rows += len(batch.source)
    if not rows:
        raise FormatError(f"{file.name}: there are no pairs in it.")
    ends = {
        "source": pa.chunked_array([batch.source for batch in batches]),
        "target": pa.chunked_array([batch.target for batch in batches]),
    }
    labels = [_labels(batch) for batch in batches]
    return pa.table(ends), np.concatenate(labels) == 1


def _labels(batch: Batch) -> NDArray[np.float64]:
    if batch.weight is None:
        return np.ones(len(batch.source))
    labels: NDArray[np.float64] = batch.weight.to_numpy(zero_copy_only=False)
    return labels


def _first_invalid_label(batch: Batch) -> int | None:
    labels = _labels(batch)
    invalid = (labels != 0) & (labels != 1)
    return int(np.argmax(invalid)) if invalid.any() else None
