"""Times of edges on Spark: the same window and the same weights by age as on one machine.

The column is parsed and the weights are computed by the code of one machine, in Arrow batches,
since the powers of Spark's functions differ in the last bit.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from hopvec.errors import FormatError, GraphError
from hopvec.graph.age_weights import TimeOptions, age_weights, describe_times
from hopvec.graph.times import TimeParser, format_time
from hopvec.spark.edges import EdgeFrame
from hopvec.spark.tables import NODE_BATCH, Tables

SAMPLE_ROWS = 1 << 14  # times that decide what kind the column holds
MICROS = "micros"
logger: logging.Logger = logging.getLogger("hopvec")


def apply_times(edges: EdgeFrame, options: TimeOptions, tables: Tables) -> EdgeFrame:
    """The edges inside the window, with weights by age if there is a half-life.

    Raises GraphError for times that are missing, unreadable or after `as_of`.
    """
    kind = _kind(edges, tables)
    found = _check(edges.frame, kind, options, tables)
    newest = found["newest"]
    described = describe_times(kind, found["oldest"], newest, found["outside"], options)
    logger.info("time: %s", ", ".join(f"{name} {value}" for name, value in described.items()))
    as_of = options.as_of if options.as_of is not None else newest
    schema = T.StructType([field for field in edges.frame.schema if field.name != "time"])
    if options.half_life is not None and not edges.weighted:
        schema = schema.add("weight", T.DoubleType())
    weigh = partial(_weighed, kind=kind, options=options, as_of=as_of, names=schema.names)
    weighted = edges.weighted or options.half_life is not None
    timed = edges.frame.mapInArrow(weigh, schema)
    # written, since later stages read the edges several times, and in small batches
    timed = tables.write("timed", timed, stage="weigh edges by age", batch=NODE_BATCH)
    return replace(edges, frame=timed, weighted=weighted, checked=True)


def _kind(edges: EdgeFrame, tables: Tables) -> str | None:
    """What kind of times the column holds, by its first rows."""
    rows = edges.frame.select("time").filter(F.col("time").isNotNull()).limit(SAMPLE_ROWS)
    sample = tables.run("check the edges", rows.toArrow, batch=NODE_BATCH)
    parser = TimeParser()
    try:
        parser.parse(sample["time"].combine_chunks())
    except FormatError as error:
        raise FormatError(f"{edges.name}: {error} Choose another column with time=.") from error
    return parser.kind


def _check(frame: DataFrame, kind: str | None, options: TimeOptions, tables: Tables) -> Any:
    """Count the edges outside the window, and find the oldest and newest inside."""
    schema = T.StructType([*frame.schema.fields, T.StructField(MICROS, T.LongType())])
    parsed = frame.mapInArrow(partial(_parsed, kind=kind), schema)
    parsed = parsed.withColumn("cell", F.col("time").cast("string"))
    micros = F.col(MICROS)
    inside = F.lit(True)
    if options.since is not None:
        inside &= micros >= options.since
    if options.until is not None:
        inside &= micros < options.until
    edge = F.struct("source", "target", "cell", MICROS)
    future = F.lit(False) if options.as_of is None else inside & (micros > options.as_of)
    found = tables.run(
        "check the edges",
        lambda: parsed.agg(
            F.count(MICROS).alias("edges"),
            F.sum(F.when(~inside, 1).otherwise(0)).alias("outside"),
            F.min(F.when(inside, micros)).alias("oldest"),
            F.max(F.when(inside, micros)).alias("newest"),
            F.min(MICROS).alias("first"),
            F.max(MICROS).alias("last"),
            F.first(F.when(micros.isNull(), edge), ignorenulls=True).alias("bad"),
            F.first(F.when(future, edge), ignorenulls=True).alias("future"),
        ).first(),
        batch=NODE_BATCH,
    )
    if found["bad"] is not None:
        u, v, cell, _ = found["bad"]
        fault = TimeParser(kind).fault(pa.array([cell], pa.string()), 0)
        raise GraphError(f"the edge {u!r} - {v!r}: {fault}.")
    if found["future"] is not None and options.as_of is not None:
        u, v, _, time = found["future"]
        raise GraphError(
            f"the edge {u!r} - {v!r}: the time {format_time(time)} is after as_of="
            f"{format_time(options.as_of)!r}. Leave later edges out with until=."
        )
    if found["edges"] and found["newest"] is None:
        raise GraphError(
            f"all {found['outside']:,} edges are outside the window of since= and until=; their "
            f"times are from {format_time(found['first'])} to {format_time(found['last'])}."
        )
    return found


def _parsed(batches: Iterable[pa.RecordBatch], kind: str | None) -> Iterator[pa.RecordBatch]:
    """Add a column of microseconds, null where a time is missing or unreadable."""
    parser = TimeParser(kind)
    for batch in batches:
        times, readable = parser.parse(batch["time"])
        yield batch.append_column(MICROS, pa.array(times, pa.int64(), mask=~readable))


def _weighed(
    batches: Iterable[pa.RecordBatch],
    kind: str | None,
    options: TimeOptions,
    as_of: int,
    names: list[str],
) -> Iterator[pa.RecordBatch]:
    """The rows inside the window, with weights by age."""
    parser = TimeParser(kind)
    for batch in batches:
        times, _ = parser.parse(batch["time"])
        inside = options.inside(times)
        rows = batch.filter(pa.array(inside))
        columns = {name: rows[name] for name in rows.schema.names if name in names}
        if options.half_life is not None:
            given = columns.get("weight")
            weights = None if given is None else given.to_numpy(zero_copy_only=False)
            weights = None if weights is None else weights.astype(np.float32)
            aged = age_weights(weights, times[inside], as_of, options.half_life)
            columns["weight"] = pa.array(aged.astype(np.float64))
        yield pa.RecordBatch.from_pydict({name: columns[name] for name in names})
