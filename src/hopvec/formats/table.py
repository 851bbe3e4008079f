"""Embeddings <-> Arrow tables: the columns `id` and `embedding`, and the metadata of the schema.

Embeddings whose nodes have types have a column `type` between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.blocks import RowBuffer, iter_blocks, node_columns
from hopvec.formats.metadata import from_json, to_json
from hopvec.formats.text import IF_EDGES
from hopvec.graph.ids import arrow_view
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

COLUMNS = ["id", "embedding"], ["id", "type", "embedding"]  # as hopvec writes them
NUMBERS = {"float32": pa.float32(), "float16": pa.float16()}
TEXT = ("string", "large_string", "string_view")
REQUIRED_COLUMNS = (
    "an embedding must have a column 'id' of integers or strings, and either a column 'embedding' "
    "of lists of floats or one column of floats per dimension"
)


def schema_of(embedding: Embedding, dtype: str = "float32") -> pa.Schema:
    """The `node_columns`, `embedding`, a fixed-size list, and the metadata of the embedding."""
    number = pa.field("element", NUMBERS[dtype], nullable=False)
    fields = [
        pa.field(name, column.type, nullable=name != "id")
        for name, column in node_columns(embedding, slice(0)).items()
    ]
    fields.append(pa.field("embedding", pa.list_(number, embedding.dim), nullable=False))
    return pa.schema(fields, metadata={"hopvec": to_json(embedding)})


def batches_of(
    embedding: Embedding,
    dtype: str = "float32",
    progress: Progress = no_progress,
    *,
    copied: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Iterate over the rows in batches of about 16 MB.

    Batches are views of the vectors, whose memory `iter_blocks` releases when the next batch is
    requested. A caller that reads batches later should pass `copied=True`.
    """
    schema = schema_of(embedding, dtype)
    kind = schema.field("embedding").type
    for columns, rows in iter_blocks(embedding, dtype, progress):
        numbers = arrow_view((rows.copy() if copied else rows).reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(numbers, type=kind)
        yield pa.RecordBatch.from_arrays([*columns, lists], schema=schema)


@dataclass(frozen=True)
class VectorColumns:
    """The columns of a table that hold the ids, the types of nodes and the vectors."""

    id: str
    numbers: list[str]
    lists: bool
    """True if the vectors are lists in one column, False if each dimension has its column."""
    type: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return [self.id, *([] if self.type is None else [self.type]), *self.numbers]


def find_columns(path: Path, schema: pa.Schema) -> VectorColumns:
    """Find the columns of ids and vectors. Raises FormatError if they are ambiguous.

    These are `id` and `embedding` if they exist; else the only column of integers or strings, and
    the only column of lists, or all other columns if they are floats. A column of strings called
    `type` beside the ids holds the types of nodes.
    """
    kinds = {field.name: field.type for field in schema}
    keys = [name for name, kind in kinds.items() if _is_key(kind)]
    is_typed = "type" in keys and len(keys) > 1 and not _is_integer(kinds["type"])
    type_ = "type" if is_typed else None
    keys = [name for name in keys if name != type_]
    lists = [name for name, kind in kinds.items() if _is_list(kind)]
    key = "id" if "id" in keys else keys[0] if len(keys) == 1 else None
    column = "embedding" if "embedding" in lists else lists[0] if len(lists) == 1 else None
    floats = [name for name, kind in kinds.items() if pa.types.is_floating(kind)]
    if key and column and len(kinds) == len(schema):
        return VectorColumns(key, [column], lists=True, type=type_)
    if key and floats and len(floats) == len(schema) - 1 - is_typed:
        return VectorColumns(key, floats, lists=False, type=type_)
    found = ", ".join(f"{field.name} ({field.type})" for field in list(schema)[:8]) or "none"
    more = ", ..." if len(schema) > 8 else ""
    raise FormatError(f"{path}: {REQUIRED_COLUMNS}; the columns are {found}{more}. {IF_EDGES}")


def from_batches(
    path: Path,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    memory_limit: int | None = None,
) -> Embedding:
    """Build an embedding from the batches of a table; see RowBuffer for `memory_limit`."""
    from hopvec.embedding import Embedding

    columns = find_columns(path, schema)
    buffer = RowBuffer(_dim(columns, schema), memory_limit)
    ids = [_ids(pa.array([], schema.field(columns.id).type))]
    types: list[pa.Array] = []
    for batch in batches:
        batch.validate(full=True)
        if not len(buffer):
            buffer = RowBuffer(_dim(columns, batch), memory_limit)
        location = _Location(path, len(buffer), _ids(batch.column(columns.id)))
        # A copy of the ids: a view would keep the whole batch in memory.
        ids.append(pa.concat_arrays([location.ids, ids[0]]))
        if columns.type is not None:
            types.append(_encoded(batch.column(columns.type)))
        _fill(buffer.grow(len(batch)), batch, columns, location)
    metadata = from_json((schema.metadata or {}).get(b"hopvec", b""))
    all_types = pa.chunked_array(types).unify_dictionaries() if types else None
    return Embedding(buffer.vectors, pa.concat_arrays(ids), *metadata, types=all_types)


@dataclass(frozen=True)
class _Location:
    """The location of a batch in a file, for error messages."""

    path: Path
    first: int
    """The row number of its first row."""
    ids: pa.Array

    def error(self, row: int, column: str, cause: str) -> FormatError:
        id = f"{self.ids[row].as_py()!r}"
        return FormatError(f"{self.path}, row {self.first + row:,} ({id}): {column} {cause}.")


def _dim(columns: VectorColumns, table: pa.Schema | pa.RecordBatch) -> int:
    """The length of the vectors; that of the first one if lists may have any length."""
    if not columns.lists:
        return len(columns.numbers)
    kind = table.field(columns.numbers[0]).type
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size)
    if isinstance(table, pa.Schema) or not len(table):
        return 0
    return len(table.column(columns.numbers[0])[0].values or ())


def _fill(
    vectors: NDArray[np.float32],
    batch: pa.RecordBatch,
    columns: VectorColumns,
    location: _Location,
) -> None:
    """Copy the numbers of a batch into `vectors`."""
    for number, name in enumerate(columns.numbers):
        column = batch.column(name)
        if column.null_count:
            raise location.error(_first_null(column), name, "is null")
        if columns.lists:
            numbers, target = _rows(column, vectors.shape[1], name, location), vectors
        else:
            numbers, target = column.to_numpy(zero_copy_only=False), vectors[:, number]
        with np.errstate(over="ignore", invalid="ignore"):  # some become infinite or NaN
            target[...] = numbers


def _rows(column: pa.Array, dim: int, name: str, location: _Location) -> NDArray[Any]:
    """The lists of a column as a matrix."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    if (lengths != dim).any():
        row = int(np.argmax(lengths != dim))
        raise location.error(row, name, f"has {lengths[row]} numbers, but others have {dim}")
    values = column.flatten()
    if values.null_count:
        raise location.error(_first_null(values) // dim, name, "contains a null")
    rows: NDArray[Any] = values.to_numpy(zero_copy_only=False).reshape(len(column), dim)
    return rows


def _first_null(column: pa.Array) -> int:
    return int(column.is_null().index(True).as_py())


def _ids(column: pa.Array) -> pa.Array:
    """Ids as int64 or large_string."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    return column.cast(pa.int64() if pa.types.is_integer(column.type) else pa.large_string())


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    """Types as a dictionary, in the same type for all batches."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.large_string()).dictionary_encode()
    names = column.dictionary.cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), names)


def _is_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _is_key(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_integer(kind) or str(kind) in TEXT


def _is_list(kind: pa.DataType) -> bool:
    types = pa.types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and types.is_floating(kind.value_type))
