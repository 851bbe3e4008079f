"""`hopvec snapshots`: embeds windows of time, one comparable embedding per window."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from hopvec.address import is_address, shown_address
from hopvec.cli.command import command, option
from hopvec.cli.inputs import check_exists, graph_argument, is_database, reading_options
from hopvec.cli.method_options import comparable_method_options, limit_data
from hopvec.cli.outputs import dtype_option, json_option
from hopvec.cli.summary import count, input_rows
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.formats.graphs.options import ReadOptions
from hopvec.methods import Method
from hopvec.progress import Progress
from hopvec.snapshots import Snapshot, Snapshots, embed_snapshots

HEADS = ("window", "nodes", "edges", "in both", "added", "removed", "mean", "10 %")
TITLE = "How far nodes moved: cosines with the window before, their mean and lowest 10 %"


@command(
    examples=[
        "hopvec snapshots edges.parquet --time ts --every 7d --window 28d -o snapshots/",
        "hopvec snapshots edges.csv --time day --every 1d --window 90d --half-life 30d -o daily/",
    ]
)
@graph_argument
@option("--every", metavar="DURATION", help="Time from one window to the next, such as 7d or 12h.")
@option("--window", metavar="DURATION", help="Length of a window, such as 28d.")
@option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Output directory: a file per window, such as 2024-01-29.parquet, named by the end of the "
    "window, and the table movement.csv. An interrupted run is resumed.",
    heading="Output",
)
@dtype_option
@option(
    "--force",
    is_flag=True,
    help="Replace the snapshots of a run with other options.",
    heading="Output",
)
@json_option
@reading_options
@comparable_method_options
def snapshots(
    terminal: Terminal,
    graph: str,
    every: str | None,
    window: str | None,
    output: Path | None,
    dtype: str,
    force: bool,
    as_json: bool,
    read_options: ReadOptions,
    method: Method,
) -> None:
    """Embed windows of time, one comparable embedding per window.

    A window has the edges with end - window <= time < end. The first one starts at the oldest edge,
    or at --since, and each of the others ends --every later; the last is the first that ends after
    the newest edge. All windows share the fitted state of the first, so `hopvec diff` compares any
    two. With --half-life, ages are measured from the end of each window. The table shows how far
    nodes moved since the window before: the cosine similarity of their two vectors, 1 if they did
    not move. Run the same command again to resume an interrupted run, with the same bytes as
    without the interruption, or to add the windows of new edges.
    """
    for name, value in (("--every", every), ("--window", window), ("--time", read_options.time)):
        if value is None:
            example = "--time COLUMN" if name == "--time" else f"{name} 7d"
            raise click.UsageError(f"Give {name}, such as {example}")
    if output is None:
        raise click.UsageError("Name the output directory, such as -o snapshots/")
    if read_options._query is None and is_database(graph):
        raise click.UsageError("Choose the edges of a database with --query")
    check_exists(graph)
    limit_data(method)
    with ExitStack() as stage:
        unit = "rows" if is_address(graph) else "bytes"
        read_progress = stage.enter_context(
            terminal.progress(f"reading {shown_address(graph)}", unit)
        )
        embed_progress: Progress | None = None

        def progress(done: int, total: int) -> None:
            nonlocal embed_progress
            if embed_progress is None:
                stage.close()  # a terminal shows one bar at a time
                embed_progress = stage.enter_context(
                    terminal.progress("embedding windows", "windows")
                )
            embed_progress(done, total)

        found = embed_snapshots(
            graph,
            output,
            every=every,
            window=window,
            method=method,
            options=read_options,
            dtype=dtype,
            force=force,
            progress=progress,
            read_progress=read_progress,
        )
    _print(terminal, found, as_json)
    notes = [("note", note) for note in terminal.notes]
    terminal.info_rows([*input_rows(found.origin or {}), *notes])
    made = sum(one.path is not None for one in found.windows)
    terminal.info(f"{output}: {count(made, 'snapshot')} of dimension {method.dim}")


def _print(terminal: Terminal, found: Snapshots, as_json: bool) -> None:
    if as_json:
        terminal.print_json({"windows": found.to_arrow().to_pylist()})
        return
    rows = [_cells(one) for one in found.windows]
    if is_terminal():
        terminal.print_table(TITLE, HEADS, rows, numbers=len(HEADS) - 1)
    else:
        for row in rows:
            terminal.print("\t".join(row))


def _cells(one: Snapshot) -> list[str]:
    counts = (one.nodes, one.edges, one.in_both, one.added, one.removed)
    cosines: tuple[Any, ...] = (one.mean_cosine, one.decile_cosine)
    return [
        one.window,
        *("" if number is None else f"{number:,}" for number in counts),
        *("" if cosine is None else f"{cosine:.4f}" for cosine in cosines),
    ]
