"""Files of labeled pairs of nodes: columns of two ids, and of 1 for an edge and 0 for none."""

from __future__ import annotations

from os import PathLike

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.edges import Batch
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source
from hopvec.graph.columns import LINKS
from hopvec.progress import Progress


def read_pairs(
    path: str | PathLike[str], *, progress: Progress | None = None
) -> tuple[pa.Table, NDArray[np.bool_]]:
    """The pairs of a file, in the columns source and target, and whether each is an edge.

    Text, Parquet or Arrow, read as edges are; the column of labels is called label, y or weight and
    holds 1 and 0. Without one, all pairs are edges. Ids of a text are texts.
    """
    with Source(path, progress) as source:
        module = next((module for module in (columnar, text) if module.recognize(source)), None)
        if module is None:
            what = f"it begins with {source.head[:8]!r}" if source.head else "it is empty"
            raise FormatError(f"{source.name}: pairs are read from text, Parquet or Arrow; {what}.")
        stream = module.read_edges(source, ReadOptions(pairs=LINKS))
        batches: list[Batch] = []
        rows = 0
        for batch in stream.batches:
            if (missing := batch.first_missing()) is not None:
                row, role = missing
                where = stream.locate(rows + row)
                raise FormatError(f"{source.name}, {where}: the {role} is empty.")
            if (wrong := _first_no_label(batch)) is not None:
                raise FormatError(
                    f"{source.name}, {stream.locate(rows + wrong)}: the label "
                    f"{batch.weight[wrong].as_py():g} is neither 1, an edge, nor 0, no edge."
                )
            batches.append(batch)
            rows += len(batch.source)
    if not rows:
        raise FormatError(f"{source.name}: there are no pairs in it.")
    ends = {
        "source": pa.chunked_array([batch.source for batch in batches]),
        "target": pa.chunked_array([batch.target for batch in batches]),
    }
    labels = [_numbers(batch) for batch in batches]
    return pa.table(ends), np.concatenate(labels) == 1


def _numbers(batch: Batch) -> NDArray[np.float64]:
    if batch.weight is None:
        return np.ones(len(batch.source))
    numbers: NDArray[np.float64] = batch.weight.to_numpy(zero_copy_only=False)
    return numbers


def _first_no_label(batch: Batch) -> int | None:
    numbers = _numbers(batch)
    wrong = (numbers != 0) & (numbers != 1)
    return int(np.argmax(wrong)) if wrong.any() else None
