"""Files of labeled pairs of nodes: two columns of ids, and one that is 1 for an edge, else 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph.columns import LINKS
from hopvec.progress import Progress

SAMPLING = "sampling"


@dataclass(frozen=True)
class LabeledPairs:
    """The pairs of a file."""

    ends: pa.Table
    """The ids, in the columns source and target; ids in text are strings."""
    is_edge: NDArray[np.bool_]
    sampling: pa.Array | None
    """How each pair was drawn, null or empty for edges; None if the file has no such column."""


def read_pairs(path: str | PathLike[str], *, progress: Progress | None = None) -> LabeledPairs:
    """Read labeled pairs from text, Parquet or Arrow.

    The label column is named label, y or weight and holds 1 and 0; without one, all pairs are
    edges. The column sampling is optional.
    """
    with InputFile(path, progress) as file:
        module = _format(file)
        stream = module.read_edges(file, ReadOptions(_pairs=LINKS))
        batches: list[Batch] = []
        for rows, batch in _checked(file, stream):
            if (invalid := _first_invalid_label(batch)) is not None:
                raise FormatError(
                    f"{file.name}, {stream.locate(rows + invalid)}: the label must be 1 (an "
                    f"edge) or 0 (not an edge), got {_labels(batch)[invalid]:g}."
                )
            batches.append(batch)
        has_sampling = SAMPLING in stream.metadata.get("ignored", ())
        if has_sampling and file.is_pipe:
            raise FormatError(
                f"{file.name}: a file with the column {SAMPLING} is read twice, which a pipe does "
                "not allow. Save it first."
            )
    ends = _ends(file, batches)
    labels = np.concatenate([_labels(batch) for batch in batches])
    source = stream.metadata["columns"]["source"]
    sampling = _read_sampling(path, source) if has_sampling else None
    if sampling is not None and len(sampling) != len(labels):
        raise FormatError(
            f"{file.name}: the column {SAMPLING} has {len(sampling):,} rows, but the other columns "
            f"have {len(labels):,}."
        )
    return LabeledPairs(ends, labels == 1, sampling)


def read_unlabeled_pairs(path: str | PathLike[str]) -> pa.Table:
    """Read two columns of ids, source and target, from text, Parquet or Arrow."""
    with InputFile(path) as file:
        stream = _format(file).read_edges(file, ReadOptions(_pairs=LINKS, unweighted=True))
        return _ends(file, [batch for _, batch in _checked(file, stream)])


def _checked(file: InputFile, stream: EdgeStream) -> Iterator[tuple[int, Batch]]:
    """The batches of a file, each with the number of rows before it. Raises for an empty id."""
    rows = 0
    for batch in stream.batches:
        if (missing := batch.first_missing()) is not None:
            row, role = missing
            raise FormatError(f"{file.name}, {stream.locate(rows + row)}: the {role} is empty.")
        yield rows, batch
        rows += len(batch.source)


def _ends(file: InputFile, batches: list[Batch]) -> pa.Table:
    """The ids of all pairs, in the columns source and target."""
    if not any(len(batch.source) for batch in batches):
        raise FormatError(f"{file.name}: there are no pairs in it.")
    return pa.table(
        {
            "source": pa.chunked_array([batch.source for batch in batches]),
            "target": pa.chunked_array([batch.target for batch in batches]),
        }
    )


def _format(file: InputFile) -> Any:
    """The module that reads a file."""
    for module in (columnar, text):
        if module.recognize(file):
            return module
    what = f"it begins with {file.head[:8]!r}" if file.head else "it is empty"
    raise FormatError(f"{file.name}: pairs are read from text, Parquet or Arrow; {what}.")


def _read_sampling(path: str | PathLike[str], source: str) -> pa.Array:
    """The column sampling, which is read like a column of ids, next to that of the sources."""
    options = ReadOptions(source=source, target=SAMPLING, unweighted=True, _pairs=LINKS)
    with InputFile(path) as file:
        batches = list(_format(file).read_edges(file, options).batches)
    values = [batch.target.cast(pa.large_string()) for batch in batches]
    return pa.chunked_array(values, pa.large_string())


def _labels(batch: Batch) -> NDArray[np.float64]:
    if batch.weight is None:
        return np.ones(len(batch.source))
    labels: NDArray[np.float64] = batch.weight.to_numpy(zero_copy_only=False)
    return labels


def _first_invalid_label(batch: Batch) -> int | None:
    labels = _labels(batch)
    invalid = (labels != 0) & (labels != 1)
    return int(np.argmax(invalid)) if invalid.any() else None
