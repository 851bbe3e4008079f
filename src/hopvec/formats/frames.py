"""Embeddings <-> tables in memory: Arrow, pandas and polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError, ParameterError
from hopvec.formats.blocks import node_columns
from hopvec.formats.metadata import to_json
from hopvec.formats.table import from_batches, schema_of
from hopvec.graph.ids import arrow_view
from hopvec.tabular import import_frames

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from hopvec.embedding import Embedding


def to_arrow(embedding: Embedding, as_list: bool) -> pa.Table:
    """See Embedding.to_arrow; lists are a view of the vectors."""
    if as_list:
        schema = schema_of(embedding)
        numbers = arrow_view(np.ascontiguousarray(embedding.vectors).reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(numbers, type=schema.field("embedding").type)
        columns = [*node_columns(embedding).values(), lists]
        return pa.Table.from_arrays(columns, schema=schema)
    beside = node_columns(embedding)
    columns = [*beside.values(), *(pa.array(column) for column in embedding.vectors.T)]
    metadata = {"hopvec": to_json(embedding)}
    return pa.Table.from_arrays(columns, names=[*beside, *names(embedding)], metadata=metadata)


def to_pandas(embedding: Embedding, index: bool, as_list: bool) -> pd.DataFrame:
    """See Embedding.to_pandas."""
    pandas = import_frames("pandas")
    ids = pandas.Index(embedding.ids.to_pandas(), name="id")
    if as_list:
        frame = pandas.DataFrame({"embedding": list(embedding.vectors)}, index=ids)
    else:
        frame = pandas.DataFrame(embedding.vectors, index=ids, columns=names(embedding))
    if embedding.types is not None:
        frame.insert(0, "type", embedding.types.to_pandas().array)
    made: pd.DataFrame = frame if index else frame.reset_index()
    return made


def to_polars(embedding: Embedding, as_list: bool) -> pl.DataFrame:
    """See Embedding.to_polars."""
    frame: pl.DataFrame = import_frames("polars").DataFrame(to_arrow(embedding, as_list))
    return frame


def from_arrow(table: Any) -> Embedding:
    """See Embedding.from_arrow."""
    if not hasattr(table, "__arrow_c_stream__"):
        raise ParameterError(
            f"Embedding.from_arrow: expected a table of pyarrow, pandas, polars or duckdb, got "
            f"{type(table).__name__}."
        )
    try:
        reader = pa.RecordBatchReader.from_stream(table)
        return from_batches(Path(f"the {type(table).__name__}"), reader.schema, reader)
    except pa.ArrowException as error:
        raise FormatError(f"the {type(table).__name__}: {error}") from error


def from_pandas(frame: pd.DataFrame) -> Embedding:
    """See Embedding.from_pandas."""
    pandas = import_frames("pandas")
    if not isinstance(frame, pandas.DataFrame):
        raise ParameterError(
            f"Embedding.from_pandas: expected a DataFrame, got {type(frame).__name__}."
        )
    has_ids = not isinstance(frame.index, pandas.RangeIndex) or frame.index.name is not None
    columns = {} if not has_ids else {"id": pa.array(frame.index)}
    for name in frame.columns:
        values = frame[name].to_numpy()
        lists = values.dtype == object and len(values) and np.ndim(values[0]) == 1
        columns[str(name)] = pa.array(list(values)) if lists else pa.array(frame[name])
    return from_arrow(pa.table(columns))


def names(embedding: Embedding) -> list[str]:
    """The names of the columns, one per dimension, as in CSV files."""
    return [f"e{column}" for column in range(embedding.dim)]
