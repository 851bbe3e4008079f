"""read_features: from a table of nodes in a file to columns of features."""

from __future__ import annotations

from os import PathLike

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.layout import Layout, first_lines
from hopvec.formats.graphs.source import Progress, Source
from hopvec.graph.columns import usual_id_column

SEPARATORS = "\t,;|"


def read_features(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """The table of a file, with the ids of nodes in its first column: text, Parquet or Arrow.

    The ids are in the column named here, else in one called id, node, name, ..., else in the first.
    In a text, line 1 names the columns, a column of numbers is one where all cells are, and an
    empty cell is a value that is not known. `Graph.with_features` takes it. `progress` is called
    with the bytes read and those of the file. Raises FormatError naming the file.
    """
    with Source(path, progress) as source:
        if columnar.recognize(source):
            table = _from_columns(source)
        elif text.recognize(source) is not None:
            table = _from_text(source, id_column)
        else:
            what = f"it begins with {source.head[:8]!r}" if source.head else "it is empty"
            raise FormatError(f"{source.name}: features are in text, Parquet or Arrow; {what}.")
        chosen = _id_column(source, table.column_names, id_column)
    others = [name for name in table.column_names if name != chosen]
    if not others:
        raise FormatError(f"{source.name}: there is no column beside the ids in {chosen!r}.")
    return table.select([chosen, *others])


def _id_column(source: Source, names: list[str], asked: str | None) -> str:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{source.name}: two columns are called {twice!r}; rename one of them.")
    if asked is None:
        return usual_id_column(names) or names[0]
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
        if source.is_folder:
            return ds.dataset(source.path, format="parquet").to_table()
        if source.head.startswith(b"PAR1"):
            return pq.read_table(source.plain_file or source.whole())
        if source.head.startswith(b"ARROW1"):
            return pa.ipc.open_file(source.whole()).read_all()
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
    names = Layout(separator, 0).cells(line)
    ids = _id_column(source, names, asked)
    try:
        table = csv.read_csv(
            source.stream(),
            read_options=csv.ReadOptions(
                column_names=names, skip_rows=skipped + 1, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=csv.ConvertOptions(column_types={ids: pa.large_string()}),
        )
    except pa.ArrowException as error:
        raise FormatError(f"{source.name}: the features cannot be read ({error}).") from error
    return pa.table({name: _empty_to_null(table.column(name)) for name in names})


def _empty_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """An empty text is none; others stay, NA as well, which may be a name."""
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), None, column)
