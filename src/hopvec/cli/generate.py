"""`hopvec generate`: random graphs of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.method_options import declared_by, flag, parameter_option, parsed
from hopvec.cli.outputs import output_path
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import Function, option, verb
from hopvec.datasets.generate import LAWS
from hopvec.formats.graphs.write import check_table
from hopvec.machine import in_words

OPTIONS = declared_by(LAWS)


def law_options(function: Function) -> Function:
    """Adds the parameters of all laws, each under the names of those that have it."""
    for owners in reversed(OPTIONS.values()):
        heading = "Options" if len(owners) == len(LAWS) else f"Options of {' and '.join(owners)}"
        function = parameter_option(next(iter(owners.values())), heading)(function)
    return function


@verb(
    examples=[
        "hopvec generate erdos-renyi --nodes 1e6 --edges 1e7 -o edges.parquet",
        "hopvec generate chung-lu --nodes 2e5 --edges 3.3e7 --exponent 2.3 -o edges.parquet",
        "hopvec generate rmat --scale 24 --edges 1e9 -o edges.parquet",
    ]
)
@click.argument("law", type=click.Choice(list(LAWS)), metavar="|".join(LAWS))
@option("-o", "--output", type=output_path, help="File of the edges.", heading="Output")
@law_options
def generate(terminal: Terminal, law: str, output: Path | None, **given: str | None) -> None:
    """Generate a random graph: Erdos-Renyi, Chung-Lu or R-MAT.

    erdos-renyi draws distinct pairs of nodes, all equally likely. chung-lu draws the ends of edges
    by weights, so that degrees follow a power law. rmat lets edges fall into quadrants within
    quadrants, as Graph500 does. The latter two repeat edges and have loops; a simple graph is what
    `--duplicates first --loops drop` makes of them. Edges are written as they are drawn, in little
    memory, and are the same for any number of threads. Formats are .parquet, .arrow, .csv and .tsv.
    """
    if output is None:
        raise click.UsageError("Say where the edges go, such as -o edges.parquet.")
    texts = {name: text for name, text in given.items() if text is not None}
    settings: dict[str, Any] = parsed(f"The law {law}", LAWS[law], texts)
    for name, owners in OPTIONS.items():
        if law in owners and owners[law].required and name not in settings:
            raise click.UsageError(f"{law} needs {flag(name)}: {owners[law].help}.")
    check_table(output)
    graph = LAWS[law](**settings)
    with terminal.progress(f"writing {output}", "edges") as progress:
        graph.write(output, progress=progress)
    size = in_words(output.stat().st_size)
    terminal.say(f"{output}: {count(graph.edges, 'edge')} of {graph.node_count:,} nodes, {size}")
