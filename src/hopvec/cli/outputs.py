"""The options that say what is written, and the checks of them that come before the work."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hopvec.cli.verb import Function, option
from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.destination import check_destination, check_writable
from hopvec.formats.npy import ids_path

output_path = click.Path(path_type=Path)


class Place(click.Path):
    """A path, or the address of one in the storage of a cluster, which stays a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A Path, or the text of an address such as s3://bucket/folder."""
        return value if "://" in str(value) else super().convert(value, param, ctx)


def dtype_option(function: Function) -> Function:
    """Adds --dtype, the type of the numbers in the file."""
    return option(
        "--dtype",
        type=click.Choice(["float32", "float16"]),
        default="float32",
        show_default=True,
        help="Numbers of the file; float16 halves it.",
        heading="Output",
    )(function)


def json_option(function: Function) -> Function:
    """Adds --json: the answer for a program to read."""
    return option("--json", "as_json", is_flag=True, help="Answer in JSON.", heading="Output")(
        function
    )


def check_output(
    output: Path,
    report: Path | None = None,
    *,
    dtype: str = "float32",
    inputs: Sequence[str | None] = (),
) -> None:
    """Raises FormatError unless both files can be written, beside all inputs."""
    check_destination(output, dtype)
    if report is not None:
        check_writable(report)
    for path in filter(None, (output, report)):
        check_apart(path, inputs)
    if report is not None and report.absolute() == output.absolute():
        raise FormatError(f"{report}: vectors and report need names of their own.")


def written_files(output: Path) -> list[Path]:
    """The files that vectors were written to: beside an .npy there is one of the ids."""
    return [output, ids_path(output)] if output.suffix.lower() == ".npy" else [output]


def check_apart(path: Path, inputs: Sequence[str | None]) -> None:
    """Raises FormatError if a file to write is one of the inputs."""
    for given in inputs:
        if given and path.exists() and Path(given).exists() and path.samefile(given):
            raise FormatError(f"{path}: this is the input. Give the output another name.")


def write_json(path: Path, value: Any) -> None:
    """Writes a value as JSON; a file of that name is replaced whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a text; a file of that name is replaced whole or not at all."""
    with atomic_write(path) as (file,):
        file.write(text.encode())
