"""`hopvec layout`: computes 2D positions and stores them with the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import command, given_options, option
from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.label_options import label_options, read_label_file
from hopvec.cli.layout_options import kind_option, seed_option
from hopvec.cli.outputs import check_not_input, output_path
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.formats.destination import check_writable
from hopvec.formats.positions import can_hold_positions, check_holds_positions, write_positions
from hopvec.view import layout as lay_out


@command(
    examples=[
        "hopvec layout vectors.parquet",
        "hopvec layout vectors.parquet -o mapped.parquet",
        "hopvec layout vectors.parquet --labels labels.csv --seed 3",
        "hopvec layout vectors.parquet --layout pca",
    ]
)
@click.argument("vectors", type=click.Path())
@kind_option(default="tsne")
@seed_option
@option(
    "--labels",
    type=FILE,
    help="File of node labels; in large graphs, labeled nodes are the first landmarks.",
)
@option(
    "-o",
    "--output",
    type=output_path,
    help="Output file.  [default: VECTORS is updated]",
    heading="Output",
)
@label_options
def layout(
    terminal: Terminal,
    vectors: str,
    kind: Any,
    seed: int,
    labels: str | None,
    output: Path | None,
    labeling: dict[str, Any],
) -> None:
    """Compute 2D positions and store them with the vectors.

    VECTORS is a .parquet or .arrow file. The columns x and y are added or replaced, and everything
    else is kept; the file is replaced atomically. `hopvec map` and `hopvec explore` then use these
    positions instead of computing them again. Zero vectors have no position: x and y are NaN.
    """
    path = Path(vectors)
    check_holds_positions(path)
    check_writable(output or path)
    if output is not None:
        check_not_input(output, [vectors, labels])
        if output.suffix.lower() != path.suffix.lower() or not can_hold_positions(output):
            raise click.UsageError(f"{output} must be a {path.suffix} file, like {vectors}.")
    if labels is None and (given := given_options("Labels")):
        raise click.UsageError(f"{given[0]} needs --labels.")
    embedding = read_vectors(terminal, vectors)
    labeled = None
    if labels is not None:
        labeled = read_label_file(terminal, labels, labeling).align(embedding).rows
    with terminal.progress("computing the layout", "%") as progress:
        positions = lay_out(embedding, kind=kind, seed=seed, labeled=labeled, progress=progress)
    with terminal.progress(f"writing {output or path}", "rows") as progress:
        write_positions(path, positions, output=output, progress=progress)
    terminal.info_rows([("note", note) for note in terminal.notes])
    terminal.info(f"{output or path}: positions of {count(len(embedding), 'node')}")
