"""`hopvec convert`: converts an embedding to another format."""

from __future__ import annotations

from pathlib import Path

import click

from hopvec.cli.command import command
from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import check_output, dtype_option, output_path, written_files
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.machine import format_bytes


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

    The suffixes of VECTORS and OUTPUT select the formats.
    """
    check_output(output, dtype=dtype, inputs=[vectors])
    embedding = read_vectors(terminal, vectors)
    with terminal.progress(f"writing {output}", "rows") as progress:
        embedding.save(output, dtype=dtype, progress=progress)
    names = " and ".join(map(str, written_files(output)))
    terminal.info(
        f"{names}: {count(len(embedding), 'vector')} of dimension {embedding.dim}, "
        f"{format_bytes(sum(file.stat().st_size for file in written_files(output)))}"
    )
