"""`hopvec neighbors`: what is near what."""

from __future__ import annotations

import sys
from typing import Any

import click

from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import option, verb
from hopvec.embedding import Embedding


@verb(
    examples=[
        "hopvec neighbors vectors.parquet nytimes.com",
        "hopvec neighbors vectors.parquet 17 42 -k 5",
        "hopvec neighbors vectors.parquet nytimes.com --json",
        "hopvec neighbors vectors.parquet nytimes.com | cut -f 2",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@option("-k", type=int, default=10, show_default=True, help="Neighbours of each node.")
@json_option
def neighbors(
    terminal: Terminal, vectors: str, ids: tuple[str, ...], k: int, as_json: bool
) -> None:
    """List the nodes most similar to some.

    Exact, by cosine similarity, best first. Piped, it prints lines of node, neighbour and
    similarity with tabs between them. An ID that begins with "-" goes behind "--".
    """
    embedding = read_vectors(terminal, vectors)
    wanted = [as_id(embedding, text) for text in ids]
    embedding.find(wanted)  # all of them, before the first answer
    with terminal.progress(f"searching {vectors}", "%"):
        found = [(id_, embedding.nearest(id_, k)) for id_ in wanted]
    if as_json:
        terminal.answer_json([_answer(id_, near) for id_, near in found])
        return
    for id_, near in found:
        if is_terminal():
            rows = [(str(other), f"{similarity:.4f}") for other, similarity in near]
            terminal.answer_table(str(id_), ["node", "similarity"], rows)
        else:
            for other, similarity in near:
                terminal.answer(f"{id_}\t{other}\t{similarity:.6f}")


def is_terminal() -> bool:
    """Whether people read the answer."""
    return sys.stdout.isatty()


def as_id(embedding: Embedding, text: str) -> Any:
    """The id that a text of the command line stands for, by the kind of ids there are."""
    if str(embedding.ids.type) == "int64":
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _answer(id_: Any, near: list[tuple[Any, float]]) -> dict[str, Any]:
    neighbors = [{"id": other, "similarity": similarity} for other, similarity in near]
    return {"id": id_, "neighbors": neighbors}
