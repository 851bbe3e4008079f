"""Gram matrices of rows: tasks sum the products of their rows, and one task adds the sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from hopvec.engine.spectral import Floats
from hopvec.spark.tables import Tables

PRODUCTS_SCHEMA = "part bigint, products binary"


def pack_products(part: int, gram: Floats, total: Floats, count: int) -> pa.RecordBatch:
    """A row of PRODUCTS_SCHEMA: the Gram matrix of `count` rows, and their sum."""
    packed = gram.tobytes() + total.tobytes() + np.float64(count).tobytes()
    return pa.RecordBatch.from_pylist([{"part": part, "products": packed}])


def products_bytes(width: int) -> int:
    """The size of the products of a part."""
    return 8 * (width * width + width + 1)


def sum_parts(
    products: DataFrame, width: int, tables: Tables, stage: str
) -> tuple[Floats, Floats, int]:
    """The Gram matrix of all rows, their sum and their number; parts are added in order."""
    ordered = products.repartition(1).sortWithinPartitions("part")
    summed = ordered.mapInArrow(partial(_add_parts, width), PRODUCTS_SCHEMA)
    (row,) = tables.run(stage, summed.collect, batch=1)
    return _unpack(row["products"], width)


def _add_parts(width: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    gram, total, count = np.zeros((width, width)), np.zeros(width), 0
    for batch in batches:
        for packed in batch["products"]:
            part_gram, part_total, part_count = _unpack(packed.as_buffer(), width)
            gram += part_gram
            total += part_total
            count += part_count
    yield pack_products(0, gram, total, count)


def _unpack(packed: bytes, width: int) -> tuple[Floats, Floats, int]:
    values = np.frombuffer(packed, np.float64).copy()
    gram = values[: width * width].reshape(width, width)
    return gram, values[width * width : -1], int(values[-1])
