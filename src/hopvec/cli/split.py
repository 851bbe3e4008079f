"""`hopvec split`: edges held out of a graph, to see whether vectors find them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.inputs import graph_argument, read, reading_options
from hopvec.cli.outputs import check_apart, output_path
from hopvec.cli.summary import count as counted
from hopvec.cli.summary import report_rows
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import option, verb
from hopvec.errors import FormatError
from hopvec.evaluate import hold_out
from hopvec.evaluate.held_out import check_hold_out_params
from hopvec.formats.graphs.write import check_table
from hopvec.run_report import RunReport


@verb(
    examples=[
        "hopvec split edges.csv -o training.parquet --links held-out.csv",
        "hopvec split edges.csv -o training.csv --links held-out.csv --share 0.1 --seed 7",
        "hopvec split edges.parquet -o training.parquet --links held-out.parquet --count 10000",
    ]
)
@graph_argument
@option("-o", "--output", type=output_path, help="File of the edges to embed.", heading="Output")
@option(
    "--links",
    type=output_path,
    help="File of the pairs to tell apart: edges held out, and pairs that are none.",
    heading="Output",
)
@option("--share", type=float, help="Share of the edges to hold out.  [default: 0.2]")
@option("--count", type=int, help="Number of edges to hold out, instead of a share.")
@option(
    "--negatives",
    type=int,
    default=1,
    show_default=True,
    help="Pairs that are no edges, for each edge held out.",
)
@option(
    "--any-edges",
    is_flag=True,
    help="Hold out edges as well whose removal cuts a component in two.",
)
@option("--seed", type=int, default=0, show_default=True, help="Same seed, same split.")
@reading_options
def split(
    terminal: Terminal,
    graph: str,
    output: Path | None,
    links: Path | None,
    share: float | None,
    count: int | None,
    negatives: int,
    any_edges: bool,
    seed: int,
    reading: dict[str, Any],
) -> None:
    """Hold edges of a graph out, to predict them.

    The graph is kept in one piece, as far as it is: an edge whose removal would cut a component in
    two stays, but for --any-edges. The file of --links has the columns source, target and label: 1
    for an edge that was held out, 0 for a pair of nodes that never was an edge. Embed the other
    file, and `hopvec evaluate --links` tells whether the vectors know which is which. Formats are
    .csv, .tsv, .parquet and .arrow.
    """
    if output is None or links is None:
        raise click.UsageError(
            "Say where both parts go, such as -o training.parquet --links held-out.csv."
        )
    if share is not None and count is not None:
        raise click.UsageError("Give --share or --count, not both.")
    for path in (output, links):
        check_table(path)
        check_apart(path, [graph, reading["nodes"]])
    if links.absolute() == output.absolute():
        raise FormatError(f"{links}: the two parts need names of their own.")
    check_hold_out_params(0.2 if share is None else share, negatives, seed)
    run = RunReport()
    whole = read(terminal, run, graph, reading)
    sizes: dict[str, Any] = {"share": share} if share is not None else {"count": count}
    with run.stage("split"), terminal.progress("holding edges out", "%") as progress:
        held_out = hold_out(
            whole,
            **sizes,
            negatives=negatives,
            connected=not any_edges,
            seed=seed,
            progress=progress,
        )
    with run.stage("write"), terminal.progress(f"writing {output}", "nodes") as progress:
        held_out.save(links, output, progress=progress)
    run.notes = terminal.notes
    terminal.facts(report_rows(run))
    kind = "directed" if whole.directed else "bipartite" if whole.is_target is not None else None
    advice = f", {kind}: embed it with --{kind}" if kind else ""
    left = counted(whole.edges - len(held_out.edges), "edge")
    terminal.say(f"{output}: {left} to embed{advice}")
    pairs = f"{counted(len(held_out.edges), 'edge')} and {counted(len(held_out.negatives), 'pair')}"
    terminal.say(f"{links}: {pairs} to tell apart")
