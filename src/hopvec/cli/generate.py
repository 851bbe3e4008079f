"""`hopvec generate`: generates random graphs of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Function, command, option
from hopvec.cli.method_options import declared_by, flag, parameter_option, parsed
from hopvec.cli.outputs import output_path
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.datasets.generate import RANDOM_GRAPHS
from hopvec.formats.table_files import check_table
from hopvec.machine import format_bytes

OPTIONS = declared_by(RANDOM_GRAPHS)


def model_options(function: Function) -> Function:
    """Add the parameters of all models, grouped by the models that have them."""
    for owners in reversed(OPTIONS.values()):
        heading = (
            "Options" if len(owners) == len(RANDOM_GRAPHS) else f"Options of {' and '.join(owners)}"
        )
        function = parameter_option(next(iter(owners.values())), heading)(function)
    return function


@command(
    examples=[
        "hopvec generate erdos-renyi --nodes 1e6 --edges 1e7 -o edges.parquet",
        "hopvec generate chung-lu --nodes 2e5 --edges 3.3e7 --exponent 2.3 -o edges.parquet",
        "hopvec generate rmat --scale 24 --edges 1e9 -o edges.parquet",
    ]
)
@click.argument("model", type=click.Choice(list(RANDOM_GRAPHS)), metavar="|".join(RANDOM_GRAPHS))
@option("-o", "--output", type=output_path, help="Output file for the edges.", heading="Output")
@model_options
def generate(terminal: Terminal, model: str, output: Path | None, **given: str | None) -> None:
    """Generate a random graph: Erdos-Renyi, Chung-Lu or R-MAT.

    erdos-renyi samples distinct pairs of nodes uniformly. chung-lu samples endpoints with weights
    that give a power-law degree distribution. rmat places edges recursively in quadrants of the
    adjacency matrix, as in Graph500. chung-lu and rmat produce duplicate edges and loops; read them
    with `--duplicates first --loops drop` to get a simple graph. Edges are streamed to disk in
    little memory, and are the same for any number of threads. Formats are .parquet, .arrow, .csv
    and .tsv.
    """
    if output is None:
        raise click.UsageError("Name the output file, such as -o edges.parquet.")
    strings = {name: text for name, text in given.items() if text is not None}
    settings: dict[str, Any] = parsed(f"The model {model}", RANDOM_GRAPHS[model], strings)
    for name, owners in OPTIONS.items():
        if model in owners and owners[model].required and name not in settings:
            raise click.UsageError(f"{model} needs {flag(name)}: {owners[model].help}.")
    check_table(output)
    graph = RANDOM_GRAPHS[model](**settings)
    with terminal.progress(f"writing {output}", "edges") as progress:
        graph.write(output, progress=progress)
    size = format_bytes(output.stat().st_size)
    terminal.info(f"{output}: {count(graph.edges, 'edge')}, {graph.node_count:,} nodes, {size}")
