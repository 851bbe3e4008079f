"""`hopvec recommend`: recommends new links."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from hopvec.cli.command import command, option
from hopvec.cli.inputs import (
    FILE,
    as_embedded,
    check_exists,
    read,
    read_vectors,
    reading_options,
)
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
    ENTRY_PAIR_BYTES,
    MAX_TRAINING_PAIRS,
    SEARCH_BYTES,
    TRAINING_BYTES,
    WRITING_BYTES,
    MoreBytes,
    VectorsSize,
    limit_graph,
    limit_vectors,
    memory_option,
)
from hopvec.embedding import Embedding
from hopvec.evaluate.pairs import ids_like
from hopvec.formats import read_preview
from hopvec.formats.graphs.links import read_unlabeled_pairs
from hopvec.formats.graphs.nodes import has_one_column, read_nodes
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.recognize import holds_embedding
from hopvec.graph.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.neighbors import check_k
from hopvec.recommendation.recommend import (
    SCORES,
    VECTOR_SCORES,
    LinkSearch,
    Score,
    ScoreOptions,
    score_pairs,
)
from hopvec.run_report import RunReport


@command(
    examples=[
        "hopvec recommend vectors.parquet --graph edges.csv ann bob",
        "hopvec recommend vectors.parquet --graph ratings.csv --all -k 20 -o suggestions.parquet",
        "hopvec recommend vectors.parquet --graph ratings.csv ann --exclude shown.csv",
        "hopvec recommend vectors.parquet --graph edges.csv --pairs pairs.csv -o scored.csv",
        "hopvec recommend vectors.parquet --graph edges.csv ann --type package",
        "hopvec recommend --graph edges.csv ann --score adamic-adar",
    ]
)
@click.argument("arguments", metavar="[VECTORS] [ID...]", nargs=-1)
@option("--graph", type=FILE, help="The edges that exist.")
@node_options
@option("-k", type=int, default=10, show_default=True, help="Number of recommendations per node.")
@option(
    "--score",
    type=click.Choice(SCORES),
    default="cosine",
    show_default=True,
    help="How links are scored: from VECTORS, by cosine, dot, or learned, a logistic regression "
    "fitted to the edges; or from the graph alone.",
)
@option(
    "--popularity",
    type=float,
    help="How much the score cosine prefers nodes with many edges; 0 finds rarer ones.  "
    "[default: 0.1]",
)
@option(
    "--alpha",
    type=float,
    default=1.0,
    show_default=True,
    help="Power of the transition probabilities of rp3beta.",
)
@option(
    "--beta",
    type=float,
    default=0.3,
    show_default=True,
    help="How much rp3beta penalizes nodes with many edges.",
)
@option("--candidates", type=FILE, help="File of node ids: recommend only these.")
@type_option("Recommend only nodes of this type")
@option(
    "--exclude",
    type=FILE,
    help="What not to recommend: a file of node ids, or of two columns, nodes and what not to "
    "recommend to them, such as what they were shown before.",
)
@option(
    "--pairs",
    type=FILE,
    help="Score the pairs of a file, whether they are edges or not, instead of searching.",
)
@option("--seed", type=int, default=0, show_default=True, help="Random seed of the score learned.")
@result_options
@memory_option
@reading_options
def recommend(
    terminal: Terminal,
    arguments: tuple[str, ...],
    graph: str | None,
    all_nodes: bool,
    id_file: str | None,
    k: int,
    score: Score,
    popularity: float | None,
    alpha: float,
    beta: float,
    candidates: str | None,
    types: tuple[str, ...],
    exclude: str | None,
    pairs: str | None,
    seed: int,
    output: str | None,
    as_json: bool,
    memory: str | None,
    read_options: ReadOptions,
) -> None:
    """Recommend new links: the most likely edges that are not there yet.

    VECTORS are those of the nodes of --graph. For each node, all nodes that it has no edge to are
    scored, except itself: in a bipartite graph those on the other side, such as items for a user;
    in a directed graph as targets of new edges. Whether the graph is directed or bipartite is taken
    from VECTORS, unless it is given.

    The columns of the result are id, recommended, score, rank and common_neighbors, the number of
    neighbors that both nodes have; in a bipartite graph, the number of users of the item who have
    another item of the user. --all means all nodes, in a bipartite graph all sources.

    The scores common-neighbors, adamic-adar and rp3beta (random walks of three steps) need no
    VECTORS. If the output is piped, each line contains id, recommended, score, rank and
    common_neighbors, separated by tabs; control characters and backslashes in ids are escaped. With
    --json, recommendations are nested by node; with -o - as well, they are JSON lines.
    """
    if graph is None:
        raise click.UsageError("Give the edges that exist: --graph FILE.")
    vectors, ids = _split(arguments, score)
    if pairs is None:
        check_selection(ids, all_nodes, id_file)
    else:
        _check_pair_options(
            selects=bool(ids or all_nodes or id_file),
            filters=bool(candidates or types or exclude),
        )
    if exclude == "-":
        raise click.UsageError("--exclude is read twice, so it must be a file.")
    check_k("recommend", k)
    options = ScoreOptions(score, popularity, alpha, beta, seed)
    options.check("recommend")
    result = ResultFile(output, as_json, [vectors, graph, id_file, candidates, exclude, pairs])
    if all_nodes and not result.given:
        raise click.UsageError("--all needs an output, such as -o suggestions.parquet or -o -.")
    for path in filter(None, (graph, id_file, candidates, exclude, pairs)):
        check_exists(path)
    start = time.monotonic()
    if vectors is not None:
        read_options = as_embedded(read_options, read_preview(vectors).embedding)
        if score not in VECTOR_SCORES and not types:
            vectors = None  # only their metadata is needed
    embedding, whole = _read_inputs(terminal, vectors, graph, score, memory, read_options)
    if pairs is not None:
        table = score_pairs(embedding, whole, read_unlabeled_pairs(pairs), **asdict(options))
        _show_notes(terminal)
        _show_pairs(terminal, table, result, as_json, start)
        return
    search = LinkSearch.create(
        "recommend",
        embedding,
        whole,
        options,
        _read_ids(candidates),
        _read_excluded(exclude),
        types or None,
    )
    wanted = None if all_nodes else selected_ids(ids, id_file, whole.ids)
    if embedding is not None and wanted is not None and score in VECTOR_SCORES:
        rows_of(embedding, ids_like(wanted, embedding.ids))  # its error suggests similar ids
    nodes = search.find(wanted)
    _show_notes(terminal)
    with terminal.progress(f"scoring links by {score}", "nodes") as progress:
        batches = search.batches(nodes, k, progress)
        if result.given:
            rows = result.write(search.schema, batches)
            found = f"{count(rows, 'recommendation')} for {count(len(nodes), 'node')}"
            result.report(terminal, found, time.monotonic() - start)
            return
        table = pa.Table.from_batches(batches, search.schema)
    _show(terminal, table, search.ids(nodes).to_pylist(), as_json)


def _check_pair_options(*, selects: bool, filters: bool) -> None:
    """Raise UsageError for options that have no effect with --pairs."""
    if selects:
        raise click.UsageError("--pairs names the nodes already; leave out ID, --ids and --all.")
    if filters:
        raise click.UsageError(
            "--pairs scores all pairs; leave out --candidates, --type and --exclude."
        )


def _read_inputs(
    terminal: Terminal,
    vectors: str | None,
    graph: str,
    score: str,
    memory: str | None,
    options: ReadOptions,
) -> tuple[Embedding | None, Graph]:
    """The vectors, if there are any, and the graph, within the memory limit."""
    limits = limit_graph([vectors], memory, _more_bytes(score), entry_bytes=_entry_bytes(score))
    whole = read(terminal, RunReport(), graph, replace(options, **limits))
    if vectors is None:
        return None, whole
    in_memory = limit_vectors([vectors], memory, "The search", _more_bytes(score, whole))
    return read_vectors(terminal, vectors, in_memory), whole


def _more_bytes(score: str, graph: Graph | None = None) -> MoreBytes:
    """The memory of recommending besides vectors, with the graph once it is read."""

    def more(sizes: Sequence[VectorsSize]) -> dict[str, int]:
        parts = {"the results": SEARCH_BYTES * sum(size.rows for size in sizes) + WRITING_BYTES}
        if score == "learned":
            pairs = sum(8 * MAX_TRAINING_PAIRS * (size.dim + 1) for size in sizes)
            parts["the regression"] = TRAINING_BYTES + pairs
        if graph is not None:
            size = GraphSize.of(graph)
            parts["the graph"] = size.resident + _entry_bytes(score) * size.entries
        return parts

    return more


def _entry_bytes(score: str) -> int:
    """The memory of recommending for each entry of the adjacency matrix."""
    return ENTRY_PAIR_BYTES if score == "learned" else 0


def _split(arguments: tuple[str, ...], score: str) -> tuple[str | None, tuple[str, ...]]:
    """The file of vectors, which only some scores need, and the ids."""
    first, ids = (arguments[0], arguments[1:]) if arguments else (None, ())
    if first is not None and Path(first).exists() and holds_embedding(Path(first)):
        return first, ids
    if score not in VECTOR_SCORES:
        return None, arguments
    if first is None or not Path(first).exists():
        given = "" if first is None else f"{first}: there is no such file. "
        raise click.UsageError(
            f"{given}Name a file of vectors first, which --score {score} needs; or score links by "
            "the graph alone, such as --score rp3beta."
        )
    return first, ids


def _show_notes(terminal: Terminal) -> None:
    terminal.info_rows([("note", note) for note in terminal.notes])


def _read_ids(path: str | None) -> pa.Array | None:
    return None if path is None else read_nodes(path)


def _read_excluded(path: str | None) -> pa.Array | pa.Table | None:
    """The ids of a file with one column, or the pairs of a file with several."""
    if path is None or has_one_column(path):
        return _read_ids(path)
    return read_unlabeled_pairs(path)


def _show(terminal: Terminal, table: pa.Table, ids: list[Any], as_json: bool) -> None:
    """Print the recommendations by node: as JSON, as tables, or as lines if piped."""
    found: dict[Any, list[dict[str, Any]]] = {id_: [] for id_ in ids}
    for row in table.to_pylist():
        found[row.pop("id")].append({"id": row.pop("recommended"), **row})
    if as_json:
        terminal.print_json([{"id": id_, "recommended": rows} for id_, rows in found.items()])
        return
    for id_, rows in found.items():
        if not rows:
            terminal.info(f"{id_}: nothing to recommend.")
        elif is_terminal():
            names = ["node", "score", "common neighbors"]
            cells = [
                [str(row["id"]), f"{row['score']:.4g}", f"{row['common_neighbors']:,}"]
                for row in rows
            ]
            terminal.print_table(str(id_), names, cells, numbers=2)
        else:
            for row in rows:
                terminal.print_cells([str(id_), *_cells(row)])


def _show_pairs(
    terminal: Terminal, table: pa.Table, result: ResultFile, as_json: bool, start: float
) -> None:
    """Write or print the scores of pairs."""
    if result.given:
        rows = result.write(table.schema, table.to_batches())
        result.report(terminal, count(rows, "scored pair"), time.monotonic() - start)
    elif as_json:
        terminal.print_json(table.to_pylist())
    elif is_terminal():
        names = ["node", "node", "score", "common neighbors"]
        terminal.print_table("Scores of pairs", names, [*_rows(table)], numbers=2)
    else:
        for row in _rows(table):
            terminal.print_cells(row)


def _rows(table: pa.Table) -> Iterator[list[str]]:
    for row in table.to_pylist():
        yield [str(row.pop("id")), *_cells(row)]


def _cells(row: dict[str, Any]) -> list[str]:
    return [f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values()]
