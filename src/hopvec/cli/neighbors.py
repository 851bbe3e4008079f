"""`hopvec neighbors`: finds the nearest neighbors of nodes."""

from __future__ import annotations

from typing import Any

import click

from hopvec.cli.command import command, option
from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.embedding import Embedding
from hopvec.evaluate.neighborhoods import Neighborhoods
from hopvec.evaluate.neighborhoods import neighbors as find_neighbors


@command(
    examples=[
        "hopvec neighbors vectors.parquet nytimes.com",
        "hopvec neighbors vectors.parquet 17 42 -k 5",
        "hopvec neighbors vectors.parquet nytimes.com --compare deepwalk.parquet",
        "hopvec neighbors new-vectors.parquet zoe --among vectors.parquet",
        "hopvec neighbors vectors.parquet nytimes.com --json",
        "hopvec neighbors vectors.parquet nytimes.com | cut -f 2",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@option("-k", type=int, default=10, show_default=True, help="Number of neighbors per node.")
@option(
    "--compare",
    type=click.Path(),
    multiple=True,
    help="Another file of vectors, to show its neighbors side by side; can be given several times.",
)
@option(
    "--among",
    type=click.Path(),
    help="Search for neighbors in another file of comparable vectors, such as the old nodes near "
    "new ones from `hopvec transform`.",
)
@json_option
def neighbors(
    terminal: Terminal,
    vectors: str,
    ids: tuple[str, ...],
    k: int,
    compare: tuple[str, ...],
    among: str | None,
    as_json: bool,
) -> None:
    """Find the nearest neighbors of nodes.

    The search is exact, by cosine similarity, most similar first. If the output is piped, each line
    contains node, neighbor and similarity, separated by tabs, and the file of vectors if there are
    several. Put "--" before an ID that starts with "-".
    """
    if among and compare:
        raise click.UsageError("Give --among or --compare, not both.")
    embeddings = {path: read_vectors(terminal, path) for path in (vectors, *compare)}
    others = read_vectors(terminal, among) if among else None
    wanted = [as_id(embeddings[vectors], text) for text in ids]
    with terminal.progress(f"searching {among or ' and '.join(embeddings)}", "%"):
        found = find_neighbors(embeddings, wanted, k=k, among=others)
    if as_json:
        terminal.print_json(found.to_dict() if compare else _of_one(found, vectors))
        return
    for id_, columns in found.found.items():
        for path, near in columns.items():
            if not near:
                where = f" in {path}" if compare else ""
                terminal.info(f"{id_}: its vector{where} is zero, so it has no neighbors.")
        if not any(columns.values()):
            continue
        if is_terminal():
            names = [
                name for path in columns for name in (path if compare else "node", "similarity")
            ]
            terminal.print_table(str(id_), names, found.rows(id_))
            continue
        for path, near in columns.items():
            for other, similarity in near:
                line = f"{id_}\t{other}\t{similarity:.6f}"
                terminal.print(f"{line}\t{path}" if compare else line)


def as_id(embedding: Embedding, text: str) -> Any:
    """Convert an argument to an id of the type that the embedding has."""
    if str(embedding.ids.type) == "int64":
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _of_one(found: Neighborhoods, path: str) -> list[dict[str, Any]]:
    """The JSON output for a single file, without its name."""
    return [{**row, "neighbors": row["neighbors"][path]} for row in found.to_dict()]
