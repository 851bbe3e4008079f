"""`hopvec map`: draws a map of embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Declared, command, gathered_options, given_options, option
from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.label_options import label_options, label_rows, read_label_file
from hopvec.cli.layout_options import kind_option, seed_option
from hopvec.cli.outputs import check_not_input, output_path
from hopvec.cli.results import type_option
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal
from hopvec.cli.vectors_memory import VectorsSize, limit_vectors, map_bytes, memory_option
from hopvec.embedding import Embedding
from hopvec.formats.destination import check_writable
from hopvec.formats.positions import read_positions
from hopvec.formats.recognize import holds_embedding
from hopvec.graph.node_types import type_mask
from hopvec.machine import format_bytes
from hopvec.view.figure import drawing_bytes
from hopvec.view.map import check_map, draw_map
from hopvec.view.theme import THEMES

LOOK: Declared = [
    (
        "--theme",
        {
            "type": click.Choice(list(THEMES)),
            "default": "light",
            "show_default": True,
            "help": "Color theme.",
        },
    ),
    ("--title", {"help": "Title above the map."}),
    (
        "--size",
        {
            "type": float,
            "default": 7.0,
            "show_default": True,
            "help": "Side length of each map in inches.",
        },
    ),
    (
        "--dpi",
        {
            "type": int,
            "default": 200,
            "show_default": True,
            "help": "Resolution in pixels per inch.",
        },
    ),
]


@command(
    examples=[
        "hopvec map vectors.parquet -o map.png",
        "hopvec map vectors.parquet labels.csv -o map.svg --theme dark",
        "hopvec map vectors.parquet labels.csv -o map.pdf --layout pca --title 'Our graph'",
        "hopvec map vectors.parquet -o items.png --type item",
        "hopvec map a.parquet b.parquet labels.csv -o figure.png --classes uk,jp,br,fr,es",
    ]
)
@click.argument("files", metavar="VECTORS... [LABELS]", type=FILE, nargs=-1, required=True)
@option(
    "-o",
    "--output",
    type=output_path,
    default=Path("map.png"),
    show_default=True,
    help="Output file: .png, .svg or .pdf.",
    heading="Output",
)
@gathered_options("look", LOOK, "Output")
@kind_option(default=None)
@seed_option
@memory_option
@type_option("Draw only nodes of this type")
@option(
    "--labels", help="File of labels, as an alternative to the last argument.", heading="Labels"
)
@option(
    "--classes",
    metavar="NAME,NAME,...",
    help="Draw only the nodes of these classes; colors are assigned in this order.",
    heading="Labels",
)
@label_options
def map(  # noqa: A001
    terminal: Terminal,
    files: tuple[str, ...],
    output: Path,
    look: dict[str, Any],
    kind: Any,
    seed: int,
    memory: str | None,
    types: tuple[str, ...],
    labels: str | None,
    classes: str | None,
    labeling: dict[str, Any],
) -> None:
    """Draw a map of embeddings: similar nodes lie close together.

    Positions are computed by t-SNE from exact nearest neighbors, or taken from the columns x and y
    that `hopvec layout` stores in the file. If the last file contains labels, nodes are colored by
    class and the larger classes are named; without labels, by type, if they have types. Isolated
    nodes are drawn in a separate strip. Several files of vectors are drawn side by side.
    """
    check_map(output, theme=look["theme"], size=look["size"], dpi=look["dpi"])
    check_writable(output)
    check_not_input(output, [*files, labels])
    vectors, labels = _split_arguments(files, labels)
    if labels is None and (given := given_options("Labels")):
        raise click.UsageError(f"{given[0]} needs a file of labels; name it last.")

    def more(sizes: Sequence[VectorsSize]) -> dict[str, int]:
        rows = [size.rows for size in sizes]
        return map_bytes(sizes, drawing_bytes(rows, size=look["size"], dpi=look["dpi"]))

    in_memory = limit_vectors(vectors, memory, "The map", more)
    read = None if labels is None else read_label_file(terminal, labels, labeling)
    embeddings = {_name(path, vectors): read_vectors(terminal, path, in_memory) for path in vectors}
    picked = None if classes is None else [name.strip() for name in classes.split(",")]
    paths = dict(zip(embeddings, vectors, strict=True))
    positions = {} if kind or picked or types else _stored_positions(paths)
    with terminal.progress("computing the layout", "%") as progress:
        draw_map(
            embeddings,
            output,
            labels=read,
            classes=picked,
            types=types or None,
            positions=positions,
            kind=kind or "tsne",
            seed=seed,
            **look,
            progress=progress,
        )
    rows: Rows = [] if read is None else label_rows(read)
    rows += [("layout", f"columns x and y of {paths[name]}") for name in positions]
    terminal.info_rows(rows + [("note", note) for note in terminal.notes])
    sizes = _sizes(embeddings, types)
    terminal.info(f"{output}: {sizes}, {format_bytes(output.stat().st_size)}")


def _split_arguments(
    files: tuple[str, ...], labels: str | None
) -> tuple[tuple[str, ...], str | None]:
    """The files of vectors and the file of labels: the last one, unless it contains vectors."""
    last = files[-1]
    if labels is not None or len(files) == 1 or (last != "-" and holds_embedding(Path(last))):
        return files, labels
    return files[:-1], last


def _name(path: str, others: tuple[str, ...]) -> str:
    """Name a file by its stem, or by its whole path if stems are equal."""
    if others.count(path) > 1:
        raise click.UsageError(f"{path} is named twice; name each file of vectors only once.")
    stem = Path(path).stem
    return stem if sum(Path(other).stem == stem for other in others) == 1 else path


def _stored_positions(paths: dict[str, str]) -> dict[str, Any]:
    """The positions that are stored in the files."""
    found = {name: read_positions(path) for name, path in paths.items()}
    return {name: plane for name, plane in found.items() if plane is not None}


def _sizes(embeddings: dict[str, Embedding], types: tuple[str, ...]) -> str:
    nodes = (
        int(type_mask("draw_map", embedding.types, types).sum()) if types else len(embedding)
        for embedding in embeddings.values()
    )
    sizes = [count(number, "node") for number in nodes]
    return " and ".join(sizes) if len(sizes) < 3 else f"{len(sizes)} maps of {sizes[0]} and more"
