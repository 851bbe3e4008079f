"""`hopvec export`: exports an embedding to a database."""

from __future__ import annotations

import click

from hopvec.cli.command import command, option
from hopvec.cli.inputs import read_vectors
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.stores import check_target


@command(
    examples=[
        "hopvec export vectors.parquet duckdb:graph.db",
        "hopvec export vectors.parquet duckdb:graph.db --table pages",
        "hopvec export vectors.parquet lancedb:directory",
        "hopvec export vectors.parquet qdrant:directory",
        "hopvec export vectors.parquet faiss:vectors.index",
        "hopvec export vectors.parquet postgresql://host/database --table pages --index",
        "hopvec export vectors.parquet 'neo4j:import?Person=personId&Movie=movieId' --index",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("target")
@option("--table", default="vectors", show_default=True, help="Table to write.")
@option("--replace", is_flag=True, help="Replace the table even if hopvec did not create it.")
@option(
    "--index",
    is_flag=True,
    help="Create an HNSW index for cosine similarity, in PostgreSQL, FAISS and Neo4j.",
)
def export(
    terminal: Terminal, vectors: str, target: str, table: str, replace: bool, index: bool
) -> None:
    """Export an embedding to a database.

    TARGET is the type of database and its location, such as duckdb:graph.db or
    postgresql://host/database, where the extension pgvector must be enabled. For Neo4j, a CSV file
    and a Cypher script are written to a directory, neo4j:import; after a question mark, the
    properties that hold the ids, by label: neo4j:import?Person=personId&Movie=movieId. By default
    it is the property id; _id stands for the internal ids that APOC exports.
    An existing table is replaced only if hopvec created it, unless --replace is given.
    """
    found = check_target(target, table, replace=replace, index=index)
    embedding = read_vectors(terminal, vectors)
    with terminal.progress(f"writing {found.shown}", "rows") as progress:
        rows = embedding.export(
            target, table=table, replace=replace, index=index, progress=progress
        )
    place = f" in the table {table}" if found.store.TABLES else ""
    terminal.info(
        f"{found.shown}: {count(rows, 'row')}{place}"
        f"{', replaced' if found.replaces else ''}{', with an HNSW index' if index else ''}"
    )
