"""`hopvec export`: an embedding in a database."""

from __future__ import annotations

import click

from hopvec.cli.inputs import read_vectors
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import option, verb
from hopvec.stores import check_target


@verb(
    examples=[
        "hopvec export vectors.parquet duckdb:graph.db",
        "hopvec export vectors.parquet duckdb:graph.db --table pages",
        "hopvec export vectors.parquet lancedb:folder",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("target")
@option("--table", default="vectors", show_default=True, help="Table to write.")
@option("--replace", is_flag=True, help="Replace a table as well that hopvec did not make.")
def export(terminal: Terminal, vectors: str, target: str, table: str, replace: bool) -> None:
    """Copy an embedding into a database.

    TARGET names the kind of database and where it is, such as duckdb:graph.db.
    An existing table is replaced if hopvec made it; any other one is refused.
    """
    replaces = check_target(target, table, replace=replace).replaces
    embedding = read_vectors(terminal, vectors)
    with terminal.progress(f"writing {target}", "rows") as progress:
        rows = embedding.export(target, table=table, replace=replace, progress=progress)
    terminal.say(
        f"{target}: {count(rows, 'row')} in the table {table}{', replaced' if replaces else ''}"
    )
