"""postgresql://host/database: a table with a column of pgvector, written by binary COPY."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.address import Address, parse_address
from hopvec.errors import FormatError, MissingExtraError, ParameterError
from hopvec.formats.blocks import iter_blocks
from hopvec.formats.metadata import is_metadata_json, to_json
from hopvec.formats.table import COLUMNS
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

LOCATION = "postgresql://<host>/<database>"
INDEX = True
TABLES = True
MAX_DIM = 16_000
MAX_VECTOR_DIM = 2_000  # of an index; longer vectors are stored as halfvec
MAX_INDEX_DIM = 4_000  # of an index of halfvec
COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_END = b"\xff\xff"


class VectorType(NamedTuple):
    """A type of pgvector."""

    name: str
    dtype: str
    """The dtype of the numbers in memory."""
    wire: str
    """Their dtype in binary COPY."""
    version: tuple[int, ...]
    """The first version of pgvector that has the type."""


VECTOR = VectorType("vector", "float32", ">f4", (0, 5))
HALFVEC = VectorType("halfvec", "float16", ">f2", (0, 7))


def check_location(location: str) -> None:
    """Raise FormatError unless this is the address of a server."""
    _address(location)


def is_ours(location: str, table: str) -> bool | None:
    """Whether the table has the columns and the comment that `write_table` creates.

    Raises FormatError if the server cannot be reached or has no pgvector.
    """
    with _connected(_address(location)) as connection:
        _extension(connection, location)
        found = connection.execute(
            "SELECT obj_description(oid, 'pg_class'), ARRAY(SELECT attname::text FROM pg_attribute"
            " WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)"
            " FROM pg_class WHERE relname = %s AND relnamespace = current_schema()::regnamespace",
            [table],
        ).fetchone()
    if found is None:
        return None
    return found[1] in COLUMNS and is_metadata_json(found[0] or "")


def write_table(
    embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
) -> None:
    """Create or replace the table in one transaction; the metadata becomes its comment.

    The new table is filled under another name, so that the old one can be read until the commit;
    those who were granted access to it keep it. If the process dies, the old table remains.
    """
    address = _address(location)
    kind = _vector_type(embedding.dim, index)
    with _connected(address) as connection:
        schema, version = _extension(connection, location)
        if version < kind.version:
            needed = ".".join(map(str, kind.version))
            raise FormatError(
                f"{address.shown}: vectors of dimension {embedding.dim:,} need the type "
                f"{kind.name} of pgvector {needed}; update the extension."
            )
        new = f"hopvec_{secrets.token_hex(8)}"
        id_type = "bigint" if pa.types.is_integer(embedding.ids.type) else "text"
        type_column = "" if embedding.types is None else "type text, "
        connection.execute(
            f'CREATE TABLE "{new}" (id {id_type} NOT NULL, {type_column}'
            f"embedding {schema}.{kind.name}({embedding.dim}) NOT NULL)"
        )
        with connection.cursor().copy(f'COPY "{new}" FROM STDIN (FORMAT binary)') as copy:
            copy.write(COPY_HEADER)
            for (ids, *types), rows in iter_blocks(embedding, kind.dtype, progress):
                copy.write(_tuples(ids, rows, kind, *types))
            copy.write(COPY_END)
        connection.execute(f'ALTER TABLE "{new}" ADD CONSTRAINT "{new}_pkey" PRIMARY KEY (id)')
        if index:
            connection.execute(
                f'CREATE INDEX "{new}_hnsw" ON "{new}" '
                f"USING hnsw (embedding {schema}.{kind.name}_cosine_ops)"
            )
        _replace(connection, new, table, to_json(embedding))


def _address(location: str) -> Address:
    return parse_address(f"postgresql:{location}")


def _vector_type(dim: int, index: bool) -> VectorType:
    if dim > MAX_DIM:
        raise ParameterError(
            f"export: pgvector stores vectors of up to {MAX_DIM:,} dimensions; these have {dim:,}."
        )
    if index and dim > MAX_INDEX_DIM:
        raise ParameterError(
            f"export: an index of pgvector takes up to {MAX_INDEX_DIM:,} dimensions; these vectors "
            f"have {dim:,}. Leave out index=True."
        )
    return VECTOR if dim <= MAX_VECTOR_DIM else HALFVEC


def _tuples(
    ids: pa.Array, rows: NDArray[Any], kind: VectorType, types: pa.Array | None = None
) -> bytes:
    """Rows in the format of binary COPY: each field follows its length in bytes."""
    dim, size = rows.shape[1], np.dtype(kind.wire).itemsize
    fields: list[Any] = [("bytes", ">i4"), ("dim", ">i2"), ("unused", ">i2")]
    fields.append(("numbers", kind.wire, (dim,)))
    is_integer = pa.types.is_integer(ids.type)
    if is_integer and types is None:
        fields = [("count", ">i2"), ("id_bytes", ">i4"), ("id", ">i8"), *fields]
    tuples = np.zeros(len(rows), np.dtype(fields))
    tuples["bytes"], tuples["dim"], tuples["numbers"] = 4 + dim * size, dim, rows
    if is_integer and types is None:
        tuples["count"], tuples["id_bytes"], tuples["id"] = 2, 8, ids.to_numpy()
        return tuples.tobytes()
    vectors, step = tuples.tobytes(), tuples.dtype.itemsize
    texts = [_field_bytes(ids), *([] if types is None else [_field_bytes(types)])]
    count = (1 + len(texts)).to_bytes(2)
    parts: list[bytes] = []
    for row, values in enumerate(zip(*texts, strict=True)):
        parts += (count, *values, vectors[row * step : (row + 1) * step])
    return b"".join(parts)


def _field_bytes(column: pa.Array) -> list[bytes]:
    """Ids or types as fields of binary COPY: the length in bytes, -1 for null, and the value."""
    if pa.types.is_integer(column.type):
        return [(8).to_bytes(4) + id.to_bytes(8, signed=True) for id in column.to_pylist()]
    return [
        b"\xff\xff\xff\xff" if text is None else len(text).to_bytes(4) + text
        for text in column.cast(pa.large_binary()).to_pylist()
    ]


def _replace(connection: Any, new: str, table: str, metadata: str) -> None:
    """Give the new table its name, its comment, and the privileges of the old one."""
    from psycopg import sql

    connection.execute(
        sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(new), sql.Literal(metadata))
    )
    (schema,) = connection.execute("SELECT quote_ident(current_schema())").fetchone()
    old = f'{schema}."{table}"'  # without the schema, it might be a table of another one
    grants = connection.execute(
        "SELECT privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE"
        " quote_ident(pg_get_userbyid(grantee)) END FROM pg_class, aclexplode(relacl)"
        " WHERE oid = to_regclass(%s) AND grantee <> relowner",
        [old],
    ).fetchall()
    connection.execute(f"DROP TABLE IF EXISTS {old}")
    connection.execute(f'ALTER TABLE "{new}" RENAME TO "{table}"')
    for privilege, grantee in grants:
        connection.execute(f"GRANT {privilege} ON {old} TO {grantee}")
    for suffix in ("_pkey", "_hnsw"):
        name = f"{table[:58]}{suffix}"
        (taken,) = connection.execute("SELECT to_regclass(%s)", [f'{schema}."{name}"']).fetchone()
        if taken is None:  # else it keeps its random name
            connection.execute(f'ALTER INDEX IF EXISTS "{new}{suffix}" RENAME TO "{name}"')


def _extension(connection: Any, location: str) -> tuple[str, tuple[int, ...]]:
    """The schema of pgvector, quoted, and its version; raises FormatError if it is missing."""
    found = connection.execute(
        "SELECT quote_ident(extnamespace::regnamespace::text), extversion FROM pg_extension"
        " WHERE extname = 'vector'"
    ).fetchone()
    if found is not None:
        return found[0], tuple(int(part) for part in found[1].split(".")[:2])
    available = connection.execute(
        "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    advice = (
        "Enable it with CREATE EXTENSION vector"
        if available
        else "Install it on the server, then run CREATE EXTENSION vector"
    )
    raise FormatError(
        f"{_address(location).shown}: the database has no extension pgvector. {advice}."
    )


@contextmanager
def _connected(address: Address) -> Iterator[Any]:
    """Connect, and commit in the end; errors of PostgreSQL are raised as FormatError.

    Their traceback is left out: it may contain credentials.
    """
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError(
            "export to PostgreSQL needs the postgres extra: pip install 'hopvec[postgres]'."
        ) from error
    try:
        connection = psycopg.connect(address.with_timeout())
    except psycopg.Error as error:
        reason = _reason(address, error)
        raise FormatError(f"{address.shown}: cannot connect to PostgreSQL ({reason}).") from None
    try:
        with connection:
            yield connection
    except psycopg.errors.InsufficientPrivilege as error:
        raise FormatError(
            f"{address.shown}: you do not have permission to create or replace this table "
            f"({_reason(address, error)})."
        ) from None
    except psycopg.errors.UniqueViolation:
        raise FormatError(
            f"{address.shown}: two vectors have the same id, but ids are the primary key."
        ) from None
    except psycopg.errors.DependentObjectsStillExist as error:
        raise FormatError(
            f"{address.shown}: the old table cannot be replaced, since views depend on it "
            f"({_reason(address, error)}). Export to another table, or drop them first."
        ) from None
    except psycopg.Error as error:
        reason = _reason(address, error)
        raise FormatError(f"{address.shown}: PostgreSQL refused it ({reason}).") from None


def _reason(address: Address, error: Exception) -> str:
    """The first line of a message, without credentials."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return address.scrub(first.removeprefix("connection failed: "))
