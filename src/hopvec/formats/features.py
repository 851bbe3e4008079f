"""read_features: from a table of nodes in a file to columns of features."""

from __future__ import annotations

from os import PathLike

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.dialect import Dialect, first_lines
from hopvec.formats.graphs.source import Source
from hopvec.graph.columns import find_id_column
from hopvec.progress import Progress

SEPARATORS = "\t,;|"


def read_features(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """The table of a file, for `Graph.with_features`: text, Parquet or Arrow.

    In a text, line 1 names the columns, a column of numbers is one where all cells are, and an
    empty cell is a value that is not known. Ids are texts there, 007 not 7: those in `id_column`,
    else in one called id, node, name, ...; else the first column is numbers only where none of
    them would be written in another way. `progress` is called with the bytes read and those of the
    file. Raises FormatError naming the file.
    """
    with Source(path, progress) as source:
        if columnar.recognize(source):
            table = _from_columns(source)
            _id_column(source, table.column_names, id_column)
            return table
        if text.recognize(source) is not None:
            return _from_text(source, id_column)
        what = f"it begins with {source.head[:8]!r}" if source.head else "it is empty"
        raise FormatError(f"{source.name}: features are in text, Parquet or Arrow; {what}.")


def _id_column(source: Source, names: list[str], asked: str | None) -> str | None:
    """The column of ids that is asked for, else by its name; None if there is none."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{source.name}: two columns are called {twice!r}; rename one of them.")
    if asked is None:
        return find_id_column(names)
    if asked not in names:
        raise FormatError(
            f"{source.name}: there is no column {asked!r} for the ids; the columns are "
            f"{', '.join(names)}."
        )
    return asked


def _from_columns(source: Source) -> pa.Table:
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    try:
        if source.is_directory:
            return ds.dataset(source.path, format="parquet").to_table()
        if source.head.startswith(b"PAR1"):
            return pq.read_table(source.plain_file or source.seekable())
        if source.head.startswith(b"ARROW1"):
            return pa.ipc.open_file(source.seekable()).read_all()
        return pa.ipc.open_stream(source.stream()).read_all()
    except pa.ArrowException as error:
        raise FormatError(f"{source.name}: the features cannot be read ({error}).") from error


def _from_text(source: Source, asked: str | None) -> pa.Table:
    import pyarrow.csv as csv

    numbered = list(first_lines(source))
    if not numbered:
        raise FormatError(f"{source.name}: it is empty.")
    skipped, line = numbered[0][0] - 1, numbered[0][1]
    separator = max(SEPARATORS, key=line.count)
    if separator not in line:
        raise FormatError(
            f"{source.name}: line 1 names no columns; there must be an id and a feature, between "
            "tabs, commas, semicolons or bars."
        )
    names = Dialect(separator, 0).cells(line)
    ids = _id_column(source, names, asked)
    try:
        table = csv.read_csv(
            source.stream(),
            read_options=csv.ReadOptions(
                column_names=names, skip_rows=skipped + 1, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=csv.ConvertOptions(column_types={ids or names[0]: pa.large_string()}),
        )
    except pa.ArrowException as error:
        raise FormatError(f"{source.name}: the features cannot be read ({error}).") from error
    columns = {name: _empty_to_null(table.column(name)) for name in names}
    return pa.table(columns if ids else columns | {names[0]: _numbers_if_all(columns[names[0]])})


def _empty_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """An empty text is none; others stay, NA as well, which may be a name."""
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), None, column)


def _numbers_if_all(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as the numbers they are; 007, which as a number would be written 7, stays a text."""
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        same = kind == pa.float64() or numbers.cast(column.type).equals(column)
        return numbers if same else column
    return column
