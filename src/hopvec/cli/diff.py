"""`hopvec diff`: lists the nodes that moved most between two embeddings."""

from __future__ import annotations

import click

from hopvec.cli.command import command, option
from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import json_option
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.evaluate.movement import movement


@command(
    examples=[
        "hopvec diff vectors.parquet today-vectors.parquet",
        "hopvec diff vectors.parquet today-vectors.parquet -k 50 --json",
    ]
)
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
@option(
    "-k", default=10, show_default=True, type=click.IntRange(1), help="Number of nodes to list."
)
@json_option
def diff(terminal: Terminal, old: str, new: str, k: int, as_json: bool) -> None:
    """List the nodes that moved most between two embeddings.

    NEW must come from `hopvec embed --like OLD`, so that vectors are comparable; embeddings with
    other parameters or features are rejected. Nodes are listed with the cosine similarity of their
    two vectors, lowest first; 1 means that a node did not move.
    """
    found = movement(read_vectors(terminal, old), read_vectors(terminal, new))
    terminal.info_rows([("note", note) for note in terminal.notes])
    rows = list(zip(found.ids[:k].to_pylist(), found.cosines[:k].tolist(), strict=True))
    if as_json:
        terminal.print_json(
            {
                "nodes": len(found.ids),
                "removed": found.removed,
                "added": found.added,
                "moved": [{"id": id, "cosine": cosine} for id, cosine in rows],
            }
        )
        return
    cells = [(str(id), f"{cosine:.4f}") for id, cosine in rows]
    if is_terminal():
        terminal.print_table("Nodes that moved most", ["node", "cosine"], cells)
    else:
        for row in cells:
            terminal.print_cells(row)
    terminal.info(
        f"{count(len(found.ids), 'node')} in both, {found.removed:,} removed, {found.added:,} added"
    )
