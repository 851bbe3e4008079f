"""`hopvec layout`: positions on a map, kept beside the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.label_options import label_options, read_label_file
from hopvec.cli.layout_options import kind_option, seed_option
from hopvec.cli.outputs import check_apart, output_path
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import given_options, option, verb
from hopvec.formats.destination import check_writable
from hopvec.formats.positions import can_hold_positions, check_holds_positions, write_positions
from hopvec.view import layout as lay_out


@verb(
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
@option("--labels", type=FILE, help="Labels of nodes: in large graphs, these lead the layout.")
@option(
    "-o",
    "--output",
    type=output_path,
    help="File to write instead.  [default: VECTORS itself]",
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
    """Lay vectors out in the plane, and keep x and y beside them.

    VECTORS is a .parquet or .arrow file. The columns x and y are added to it, or replaced; all else
    stays, and it appears whole or not at all. `hopvec map` and `hopvec explore` then take the
    positions from there instead of computing them anew. Zero vectors have none: nan.
    """
    path = Path(vectors)
    check_holds_positions(path)
    check_writable(output or path)
    if output is not None:
        check_apart(output, [vectors, labels])
        if output.suffix.lower() != path.suffix.lower() or not can_hold_positions(output):
            raise click.UsageError(f"{output} must be a {path.suffix} file, as {vectors} is.")
    if labels is None and (given := given_options("Labels")):
        raise click.UsageError(f"{given[0]} is for --labels.")
    embedding = read_vectors(terminal, vectors)
    labeled = None
    if labels is not None:
        labeled = read_label_file(terminal, labels, labeling).align(embedding).rows
    with terminal.progress("laying out", "%") as progress:
        positions = lay_out(embedding, kind=kind, seed=seed, labeled=labeled, progress=progress)
    with terminal.progress(f"writing {output or path}", "rows") as progress:
        write_positions(path, positions, output=output, progress=progress)
    terminal.facts([("note", note) for note in terminal.notes])
    terminal.say(f"{output or path}: x and y of {count(len(embedding), 'node')}")
