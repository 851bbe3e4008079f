"""`hopvec convert`: converts an embedding to another format."""

from __future__ import annotations

from pathlib import Path

import click

from hopvec.cli.command import command
from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import check_output, dtype_option, output_path, save_vectors, show_written
from hopvec.cli.terminal import Terminal


@command(
    examples=[
        "hopvec convert vectors.parquet vectors.npy",
        "hopvec convert vectors.npz vectors.parquet --dtype float16",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("output", type=output_path)
@dtype_option
def convert(terminal: Terminal, vectors: str, output: Path, dtype: str) -> None:
    """Convert an embedding to another format.

    The suffixes of VECTORS and OUTPUT select the formats; "-" as OUTPUT is CSV on standard output.
    """
    check_output(output, dtype=dtype, inputs=[vectors])
    embedding = read_vectors(terminal, vectors)
    save_vectors(terminal, embedding, output, dtype)
    show_written(terminal, embedding, output)
