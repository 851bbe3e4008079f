"""`hopvec neighbors`: finds the nearest neighbors of nodes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from hopvec.cli.command import command, option
from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.results import (
    ResultFile,
    check_selection,
    node_options,
    result_options,
    rows_of,
    selected_ids,
    type_option,
)
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.cli.vectors_memory import (
    SEARCH_BYTES,
    WRITING_BYTES,
    limit_vectors,
    memory_option,
)
from hopvec.embedding import Embedding
from hopvec.evaluate.neighborhoods import Neighborhoods
from hopvec.evaluate.neighborhoods import neighbors as find_neighbors
from hopvec.evaluate.pairs import ids_like
from hopvec.formats.graphs.nodes import read_nodes
from hopvec.formats.recognize import holds_embedding

MUTUAL_BYTES = 28  # per node and neighbor: two lists of rows, and similarities


@command(
    examples=[
        "hopvec neighbors vectors.parquet nytimes.com",
        "hopvec neighbors vectors.parquet 17 42 -k 5",
        "hopvec neighbors vectors.parquet --all -k 10 -o knn.parquet",
        "hopvec neighbors vectors.parquet --all --approximate -o knn.parquet",
        "hopvec neighbors vectors.parquet --ids users.txt --among items.txt -o -",
        "hopvec neighbors vectors.parquet user:5 --type item",
        "hopvec neighbors vectors.parquet nytimes.com --compare deepwalk.parquet",
        "hopvec neighbors new-vectors.parquet zoe --among vectors.parquet",
        "hopvec neighbors vectors.parquet nytimes.com | cut -f 2",
    ]
)
@click.argument("vectors", type=click.Path())
@click.argument("ids", metavar="[ID...]", nargs=-1)
@node_options
@option("-k", type=int, default=10, show_default=True, help="Number of neighbors per node.")
@option(
    "--among",
    type=FILE,
    help="Where to search: a file of node ids, or another file of comparable vectors, such as the "
    "old nodes near new ones from `hopvec transform`.  [default: all nodes]",
)
@type_option("Only nodes of this type may be neighbors")
@option(
    "--min-similarity",
    type=float,
    default=-1.0,
    help="Leave out neighbors with a lower cosine similarity.",
)
@option(
    "--mutual",
    is_flag=True,
    help="Leave out neighbors that do not have the node among their own nearest; not with --among.",
)
@option(
    "--approximate",
    is_flag=True,
    help="Search an index, which is faster above 100,000 nodes, but misses some neighbors; prints "
    "the share that it finds. Needs the extra approximate.",
)
@option(
    "--compare",
    type=click.Path(),
    multiple=True,
    help="Another file of vectors, to show its neighbors side by side; can be given several times.",
)
@result_options
@memory_option
def neighbors(
    terminal: Terminal,
    vectors: str,
    ids: tuple[str, ...],
    all_nodes: bool,
    id_file: str | None,
    k: int,
    among: str | None,
    types: tuple[str, ...],
    min_similarity: float,
    mutual: bool,
    approximate: bool,
    compare: tuple[str, ...],
    output: str | None,
    as_json: bool,
    memory: str | None,
) -> None:
    """Find the nearest neighbors of nodes.

    The search is exact, by cosine similarity, most similar first; no node is its own neighbor. With
    --all and -o it writes the k-nearest-neighbor graph of all nodes: a table with the columns id,
    neighbor, similarity and rank. Without -o, neighbors are printed; if the output is piped, each
    line contains node, neighbor and similarity, separated by tabs, and the file of vectors if there
    are several; control characters and backslashes in ids are escaped. Put "--" before an ID that
    starts with "-".
    """
    check_selection(ids, all_nodes, id_file)
    if among and compare:
        raise click.UsageError("Give --among or --compare, not both.")
    if mutual and among:
        raise click.UsageError("Give --among or --mutual, not both.")
    if mutual and types:
        raise click.UsageError("Give --type or --mutual, not both.")
    if approximate and (among or types or mutual or compare):
        raise click.UsageError(
            "Leave out --among, --type, --mutual and --compare with --approximate."
        )
    result = ResultFile(output, as_json, [vectors, among, id_file])
    if compare and result.given:
        raise click.UsageError("--compare prints neighbors; -o writes those of one file.")
    if all_nodes and not result.given:
        raise click.UsageError("--all needs an output, such as -o knn.parquet or -o -.")
    if approximate and not result.given:
        raise click.UsageError("--approximate needs an output, such as -o knn.parquet.")
    each = SEARCH_BYTES + (MUTUAL_BYTES * k if mutual else 0)
    writing = WRITING_BYTES if result.given else 0
    in_memory = limit_vectors(
        [vectors, among if among and holds_embedding(Path(among)) else None, *compare],
        memory,
        f"{vectors}: the search",
        lambda sizes: {"the results": each * sum(size.rows for size in sizes) + writing},
        mapped=not approximate,  # an index reads vectors in any order
    )
    embeddings = {path: read_vectors(terminal, path, in_memory) for path in (vectors, *compare)}
    embedding = embeddings[vectors]
    options = {
        "k": k,
        "among": _read_among(terminal, among, embedding, in_memory),
        "types": types or None,
        "min_similarity": min_similarity,
        "mutual": mutual,
    }
    wanted = embedding.ids if all_nodes else selected_ids(ids, id_file, embedding.ids)
    label = f"searching {among or ' and '.join(embeddings)}"
    if result.given:
        rows = np.arange(len(embedding)) if all_nodes else rows_of(embedding, wanted)
        _write(terminal, embedding, rows, result, options, label, approximate=approximate)
        return
    with terminal.progress(label, "%"):
        near = find_neighbors(embeddings, wanted.to_pylist(), **options)
    if as_json:
        terminal.print_json(near.to_dict() if compare else _of_one(near, vectors))
    else:
        _print(terminal, near, embeddings)


def _write(
    terminal: Terminal,
    embedding: Embedding,
    rows: NDArray[np.int64],
    result: ResultFile,
    options: dict[str, Any],
    label: str,
    *,
    approximate: bool,
) -> None:
    """Write the neighbors of some rows, exact or from an index."""
    start = time.monotonic()
    search = embedding._neighbor_search(**options, approximate=approximate)
    if approximate:
        with terminal.progress("building an index", "%") as progress:
            search.prepare(progress)
    with terminal.progress(label, "nodes") as progress:
        written = result.write(search.schema, search.batches(rows, progress))
    found = f"{count(written, 'neighbor')} of {count(len(rows), 'node')}"
    result.report(terminal, found, time.monotonic() - start)
    if approximate:
        recall = embedding._approximate_index.recall(options["k"])
        terminal.info(f"recall: {recall:.1%} of the neighbors, measured on a sample of nodes")


def _read_among(
    terminal: Terminal, path: str | None, embedding: Embedding, in_memory: int | None
) -> Any:
    """The embedding or the ids of a file."""
    if path is None:
        return None
    if path != "-" and holds_embedding(Path(path)):
        return read_vectors(terminal, path, in_memory)
    return ids_like(read_nodes(path), embedding.ids)


def _print(terminal: Terminal, found: Neighborhoods, embeddings: dict[str, Embedding]) -> None:
    """Print one table per node, or lines if the output is piped."""
    compare = len(embeddings) > 1
    for id_, columns in found.found.items():
        for path, near in columns.items():
            where = f" in {path}" if compare else ""
            if not near and not embeddings[path][id_].any():
                terminal.info(f"{id_}: its vector{where} is zero, so it has no neighbors.")
            elif not near:
                terminal.info(f"{id_}: no neighbors{where} meet the conditions.")
        if not any(columns.values()):
            continue
        if is_terminal():
            names = [
                name for path in columns for name in (path if compare else "node", "similarity")
            ]
            terminal.print_table(str(id_), names, found._rows(id_))
            continue
        for path, near in columns.items():
            for other, similarity in near:
                cells = [str(id_), str(other), f"{similarity:.6f}"]
                terminal.print_cells([*cells, path] if compare else cells)


def _of_one(found: Neighborhoods, path: str) -> list[dict[str, Any]]:
    """The JSON output for a single file, without its name."""
    return [{**row, "neighbors": row["neighbors"][path]} for row in found.to_dict()]
