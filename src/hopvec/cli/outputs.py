"""The output options, and checks of output files before the work starts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Function, option
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.embedding import Embedding
from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.delimited import write_csv
from hopvec.formats.destination import check_destination, check_writable
from hopvec.formats.npy import ids_path
from hopvec.machine import format_bytes

output_path: click.Path = click.Path(path_type=Path)
STDOUT: Path = Path("-")


class PathOrUrl(click.Path):
    """A path, or the URL of a location in cluster storage, which stays a string."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a Path, or the string of a URL such as s3://bucket/directory."""
        return value if "://" in str(value) else super().convert(value, param, ctx)


def dtype_option(function: Function) -> Function:
    """Add --dtype, the data type of the written vectors."""
    return option(
        "--dtype",
        type=click.Choice(["float32", "float16"]),
        default="float32",
        show_default=True,
        help="Data type of the written vectors; float16 halves the file size.",
        heading="Output",
    )(function)


def json_option(function: Function) -> Function:
    """Add --json."""
    return option(
        "--json", "as_json", is_flag=True, help="Print the result as JSON.", heading="Output"
    )(function)


def check_output(
    output: Path,
    report: Path | None = None,
    *,
    dtype: str = "float32",
    inputs: Sequence[str | None] = (),
) -> None:
    """Raise FormatError unless both files can be written without replacing an input."""
    if output != STDOUT:
        check_destination(output, dtype)
    elif dtype != "float32":
        raise FormatError("standard output: vectors are written as CSV, which is float32.")
    if report is not None and report != STDOUT:
        check_writable(report)
    for path in filter(None, (output, report)):
        check_not_input(path, inputs)
    if report is not None and os.path.realpath(report) == os.path.realpath(output):
        name = "standard output" if report == STDOUT else str(report)
        raise FormatError(f"{name}: vectors and report must go to different files.")


def save_vectors(terminal: Terminal, embedding: Embedding, output: Path, dtype: str) -> None:
    """Write vectors to a file, or as CSV to standard output."""
    if output == STDOUT:
        write_csv(embedding, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with terminal.progress(f"writing {output}", "rows") as progress:
        embedding.save(output, dtype=dtype, progress=progress)


def show_written(terminal: Terminal, embedding: Embedding, output: Path) -> None:
    """Show which files vectors were written to, and how large they are."""
    if output != STDOUT:
        terminal.info(
            f"{' and '.join(map(str, vector_files(output)))}: "
            f"{count(len(embedding), 'vector')} of dimension {embedding.dim}, "
            f"{format_bytes(sum(file.stat().st_size for file in vector_files(output)))}"
        )


def vector_files(path: Path) -> list[Path]:
    """The files of vectors: an .npy file has a second file with the ids."""
    return [path, ids_path(path)] if path.suffix.lower() == ".npy" else [path]


def check_not_input(path: Path, inputs: Sequence[str | None]) -> None:
    """Raise FormatError if a file to write is one of the inputs."""
    read = [file for given in inputs if given for file in vector_files(Path(given))]
    for output, file in product(vector_files(path), read):
        if output.exists() and file.exists() and output.samefile(file):
            raise FormatError(
                f"{output}: this is an input file. Choose another name for the output."
            )


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON to a file, atomically, or to standard output."""
    if path == STDOUT:
        Terminal().print_json(value)
        return
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a string to a file, atomically."""
    with atomic_write(path) as (file,):
        file.write(text.encode())
