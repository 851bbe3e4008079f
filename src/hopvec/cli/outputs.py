"""The output options, and checks of output files before the work starts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Function, option
from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.destination import check_destination, check_writable
from hopvec.formats.npy import ids_path

output_path: click.Path = click.Path(path_type=Path)


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
    check_destination(output, dtype)
    if report is not None:
        check_writable(report)
    for path in filter(None, (output, report)):
        check_not_input(path, inputs)
    if report is not None and report.absolute() == output.absolute():
        raise FormatError(f"{report}: vectors and report must have different names.")


def written_files(output: Path) -> list[Path]:
    """The files that vectors were written to: an .npy file has a second file with the ids."""
    return [output, ids_path(output)] if output.suffix.lower() == ".npy" else [output]


def check_not_input(path: Path, inputs: Sequence[str | None]) -> None:
    """Raise FormatError if a file to write is one of the inputs."""
    for given in inputs:
        if given and path.exists() and Path(given).exists() and path.samefile(given):
            raise FormatError(f"{path}: this is an input file. Choose another name for the output.")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a string to a file, atomically."""
    with atomic_write(path) as (file,):
        file.write(text.encode())
