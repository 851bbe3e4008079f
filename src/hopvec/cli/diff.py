"""`hopvec diff`: the nodes that moved most from one embedding to another."""

from __future__ import annotations

import click

from hopvec.cli.inputs import read_vectors
from hopvec.cli.outputs import json_option
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.cli.verb import option, verb
from hopvec.evaluate.movement import movement


@verb(
    examples=[
        "hopvec diff vectors.parquet today-vectors.parquet",
        "hopvec diff vectors.parquet today-vectors.parquet -k 50 --json",
    ]
)
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
@option("-k", default=10, show_default=True, type=click.IntRange(1), help="Nodes to list.")
@json_option
def diff(terminal: Terminal, old: str, new: str, k: int, as_json: bool) -> None:
    """List the nodes that moved most from one embedding to another.

    NEW is one that `hopvec embed --like OLD` made: only then are vectors comparable; other
    parameters and features are refused. Nodes are listed with the cosine of their two vectors, the
    least first: 1 for one that has not moved.
    """
    found = movement(read_vectors(terminal, old), read_vectors(terminal, new))
    terminal.facts([("note", note) for note in terminal.notes])
    rows = list(zip(found.ids[:k].to_pylist(), found.cosines[:k].tolist(), strict=True))
    if as_json:
        terminal.answer_json(
            {
                "nodes": len(found.ids),
                "removed": found.removed,
                "added": found.added,
                "moved": [{"id": id, "cosine": cosine} for id, cosine in rows],
            }
        )
        return
    shown = [(str(id), f"{cosine:.4f}") for id, cosine in rows]
    if is_terminal():
        terminal.answer_table("Moved most", ["node", "cosine"], shown)
    else:
        for row in shown:
            terminal.answer("\t".join(row))
    terminal.say(
        f"{count(len(found.ids), 'node')} in both, {found.removed:,} removed, {found.added:,} added"
    )
