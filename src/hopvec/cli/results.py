"""Options of commands that list results for nodes: which nodes, and where the results go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.cli.command import Function, option
from hopvec.cli.inputs import FILE
from hopvec.cli.outputs import check_not_input, json_option
from hopvec.cli.terminal import Terminal, duration
from hopvec.embedding import Embedding
from hopvec.errors import FormatError
from hopvec.evaluate.pairs import ids_like
from hopvec.formats.graphs.nodes import read_nodes
from hopvec.formats.table_files import (
    RESULT_SUFFIXES,
    TableFile,
    check_table,
    write_lines,
    write_tables,
)


def node_options(function: Function) -> Function:
    """Add --all and --ids, which select nodes instead of ID arguments."""
    function = option(
        "--ids",
        "id_file",
        type=FILE,
        help="File of node ids, one per line or in a column of a table; - is standard input.",
    )(function)
    return option("--all", "all_nodes", is_flag=True, help="All nodes.")(function)


def type_option(what: str) -> Callable[[Function], Function]:
    """Add --type, which limits a command to types of nodes."""
    return option(
        "--type",
        "types",
        metavar="NAME",
        multiple=True,
        help=f"{what}; can be given several times.",
    )


def result_options(function: Function) -> Function:
    """Add -o and --json."""
    function = json_option(function)
    return option(
        "-o",
        "--output",
        type=click.Path(allow_dash=True),
        help="Write a table: .parquet, .arrow, .csv, .tsv or .jsonl; - is standard output, as CSV "
        "or with --json as JSON lines.",
        heading="Output",
    )(function)


def check_selection(given: Sequence[Any], all_nodes: bool, id_file: str | None) -> None:
    """Raise UsageError unless nodes are selected in exactly one way."""
    ways = [bool(given), all_nodes, id_file is not None]
    if sum(ways) == 0:
        raise click.UsageError("Name nodes: ID arguments, --ids FILE, or --all.")
    if sum(ways) > 1:
        raise click.UsageError("Name nodes in one way only: ID arguments, --ids FILE, or --all.")


def selected_ids(given: Sequence[str], id_file: str | None, known: pa.Array) -> pa.Array:
    """The ids of arguments or of a file, in the type of the known ids if possible."""
    ids = read_nodes(id_file) if id_file is not None else pa.array(given, pa.large_string())
    return ids_like(ids, known)


class ResultFile:
    """The output of -o: a file, standard output, or nothing."""

    def __init__(self, output: str | None, as_json: bool, inputs: Sequence[str | None]) -> None:
        self.given: bool = output is not None
        self._stdout = output == "-"
        self._form: Literal["csv", "jsonl"] = "jsonl" if as_json else "csv"
        if output is None or self._stdout:
            return
        self._path = Path(output)
        if as_json:
            raise click.UsageError(
                "--json prints to standard output. To write JSON lines to a file, name it .jsonl."
            )
        check_table(self._path, RESULT_SUFFIXES)
        check_not_input(self._path, inputs)

    def write(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
        """Write a table; return the number of rows."""
        rows = 0

        def counted() -> Iterable[pa.RecordBatch]:
            nonlocal rows
            for batch in batches:
                rows += len(batch)
                yield batch

        if self._stdout:
            write_lines(sys.stdout.buffer, schema, counted(), self._form)
        else:
            write_tables(TableFile(self._path, schema, counted()))
        return rows

    def report(self, terminal: Terminal, what: str, seconds: float) -> None:
        """Print what was written."""
        where = "" if self._stdout else f"{self._path}: "
        terminal.info(f"{where}{what} in {duration(seconds)}")


def rows_of(embedding: Embedding, ids: pa.Array) -> NDArray[np.int64]:
    """The rows of ids. Raises UnknownNodeError, with suggestions."""
    if len(ids) == 0:
        raise FormatError("There are no ids.")
    return embedding.find(ids)
