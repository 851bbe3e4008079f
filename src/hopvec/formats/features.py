"""read_features: reads a table of node features."""

from __future__ import annotations

from os import PathLike

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.dialect import Dialect, first_lines
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.table_file import open_table_file
from hopvec.graph.columns import find_id_column
from hopvec.progress import Progress

SEPARATORS = "\t,;|"


def read_features(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    spill_dir: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Read a table of node features for `Graph.with_features`: text, Parquet or Arrow.

    The first line of a text file names the columns. A column is numeric if all its cells are, and
    empty cells are missing values. Ids of a text file are strings, so that 007 is not 7: the column
    `id_column`, else one called id, node, name, ... If there is none, the first column is numeric
    only if each of its numbers is written in the usual way.

    Parameters
    ----------
    path : str or path-like
        The file.
    id_column : str, optional
        The column of ids.
    spill_dir : path-like, optional
        The directory of a temporary copy of a compressed file.
    progress : callable, optional
        Called with the number of bytes read and the size of the file.

    Returns
    -------
    pyarrow.Table
        One row per node.

    Raises
    ------
    FormatError
        If the file cannot be read, or has no column `id_column`.
    """
    with InputFile(path, progress, spill_dir) as file:
        if columnar.recognize(file):
            with open_table_file(file) as table:
                _id_column(file, table.schema.names, id_column)
                return table.read()
        if text.recognize(file) is not None:
            return _from_text(file, id_column)
        found = f"this file begins with {file.head[:8]!r}" if file.head else "this one is empty"
        raise FormatError(
            f"{file.name}: features are read from text, Parquet or Arrow files; {found}."
        )


def _id_column(file: InputFile, names: list[str], requested: str | None) -> str | None:
    """The requested column, else one with a usual name; None if there is none."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{file.name}: two columns are named {repeated!r}; rename one of them.")
    if requested is None:
        return find_id_column(names)
    if requested not in names:
        raise FormatError(
            f"{file.name}: there is no column {requested!r} for the ids; the columns are "
            f"{', '.join(names)}."
        )
    return requested


def _from_text(file: InputFile, id_column: str | None) -> pa.Table:
    import pyarrow.csv as csv

    numbered = list(first_lines(file))
    if not numbered:
        raise FormatError(f"{file.name}: the file is empty.")
    skipped, line = numbered[0][0] - 1, numbered[0][1]
    separator = max(SEPARATORS, key=line.count)
    if separator not in line:
        raise FormatError(
            f"{file.name}, line 1: expected the names of at least two columns, an id and a "
            "feature, separated by tabs, commas, semicolons or vertical bars."
        )
    names = Dialect(separator, 0).cells(line)
    ids = _id_column(file, names, id_column)
    try:
        table = csv.read_csv(
            file.stream(),
            read_options=csv.ReadOptions(
                column_names=names, skip_rows=skipped + 1, use_threads=False
            ),
            parse_options=csv.ParseOptions(delimiter=separator),
            convert_options=csv.ConvertOptions(column_types={ids or names[0]: pa.large_string()}),
        )
    except pa.ArrowException as error:
        raise FormatError(f"{file.name}: the features cannot be read ({error}).") from error
    columns = {name: _empty_to_null(table.column(name)) for name in names}
    return pa.table(columns if ids else columns | {names[0]: _numbers_if_all(columns[names[0]])})


def _empty_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Replace empty strings by nulls. NA stays a string, since it may be a name."""
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pc.if_else(pc.equal(column, ""), None, column)


def _numbers_if_all(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Strings as numbers if all are numbers; 007 stays a string, since as a number it is 7."""
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        same = kind == pa.float64() or numbers.cast(column.type).equals(column)
        return numbers if same else column
    return column
