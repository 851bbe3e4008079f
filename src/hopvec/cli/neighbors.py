"""`hopvec neighbors`: what is near what."""

from __future__ import annotations

from typing import Any

import click

from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.cli.verb import option, verb
from hopvec.embedding import Embedding
from hopvec.evaluate.neighborhoods import Neighborhoods
from hopvec.evaluate.neighborhoods import neighbors as find_neighbors


@verb(
    examples=[
        "hopvec neighbors vectors.parquet nytimes.com",
        "hopvec neighbors vectors.parquet 17 42 -k 5",
        "hopvec neighbors vectors.parquet nytimes.com --beside deepwalk.parquet",
        "hopvec neighbors new-vectors.parquet zoe --among vectors.parquet",
        "hopvec neighbors vectors.parquet nytimes.com --json",
        "hopvec neighbors vectors.parquet nytimes.com | cut -f 2",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@option("-k", type=int, default=10, show_default=True, help="Neighbors of each node.")
@option(
    "--beside",
    type=click.Path(),
    multiple=True,
    help="Another file of vectors, whose neighbors stand beside; may be given several times.",
)
@option(
    "--among",
    type=click.Path(),
    help="A file of comparable vectors whose nodes are listed, instead of those of VECTORS: the "
    "old nodes near the new ones of `hopvec transform`.",
)
@json_option
def neighbors(
    terminal: Terminal,
    vectors: str,
    ids: tuple[str, ...],
    k: int,
    beside: tuple[str, ...],
    among: str | None,
    as_json: bool,
) -> None:
    """List the nodes most similar to some.

    Exact, by cosine similarity, best first. Piped, it prints lines of node, neighbor and
    similarity with tabs between them, and the file of vectors if there are several. An ID that
    begins with "-" goes behind "--".
    """
    if among and beside:
        raise click.UsageError("Give --among or --beside, not both.")
    embeddings = {path: read_vectors(terminal, path) for path in (vectors, *beside)}
    others = read_vectors(terminal, among) if among else None
    wanted = [as_id(embeddings[vectors], text) for text in ids]
    with terminal.progress(f"searching {among or ' and '.join(embeddings)}", "%"):
        found = find_neighbors(embeddings, wanted, k=k, among=others)
    if as_json:
        terminal.answer_json(found.to_dict() if beside else _of_one(found, vectors))
        return
    for id_, columns in found.found.items():
        for path, near in columns.items():
            if not near:
                where = f" in {path}" if beside else ""
                terminal.say(f"{id_}: its vector{where} is zero, so nothing is near it.")
        if not any(columns.values()):
            continue
        if is_terminal():
            names = [
                name for path in columns for name in (path if beside else "node", "similarity")
            ]
            terminal.answer_table(str(id_), names, found.rows(id_))
            continue
        for path, near in columns.items():
            for other, similarity in near:
                line = f"{id_}\t{other}\t{similarity:.6f}"
                terminal.answer(f"{line}\t{path}" if beside else line)


def as_id(embedding: Embedding, text: str) -> Any:
    """The id that a text of the command line stands for, by the kind of ids there are."""
    if str(embedding.ids.type) == "int64":
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _of_one(found: Neighborhoods, path: str) -> list[dict[str, Any]]:
    """The answer in JSON where there is one file, and its name says nothing."""
    return [{**row, "neighbors": row["neighbors"][path]} for row in found.to_dict()]
