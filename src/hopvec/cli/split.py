"""`hopvec split`: splits a graph into training edges and held-out links."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import command, option
from hopvec.cli.inputs import graph_argument, read, reading_options
from hopvec.cli.outputs import check_not_input, output_path
from hopvec.cli.summary import count as plural
from hopvec.cli.summary import report_rows
from hopvec.cli.terminal import Terminal
from hopvec.errors import FormatError
from hopvec.evaluate import hold_out
from hopvec.evaluate.held_out import SAMPLING, Samplings, check_hold_out_params
from hopvec.formats.graphs.nodes import node_files
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.table_files import check_table
from hopvec.run_report import RunReport


@command(
    examples=[
        "hopvec split edges.csv -o training.parquet --links held-out.csv",
        "hopvec split edges.csv -o training.csv --links held-out.csv --share 0.1 --seed 7",
        "hopvec split edges.parquet -o training.parquet --links held-out.parquet --count 10000",
        "hopvec split ratings.csv --bipartite -o training.csv --links held-out.csv --per-node",
    ]
)
@graph_argument
@option(
    "-o", "--output", type=output_path, help="Output file for the training edges.", heading="Output"
)
@option(
    "--links",
    type=output_path,
    help="Output file for the links: held-out edges and negative pairs.",
    heading="Output",
)
@option("--share", type=float, help="Share of the edges to hold out.  [default: 0.2]")
@option("--count", type=int, help="Number of edges to hold out, instead of a share.")
@option(
    "--negatives",
    type=int,
    default=1,
    show_default=True,
    help="Negative pairs per held-out edge and sampling.",
)
@option(
    "--sampling",
    type=click.Choice(SAMPLING.options),
    default="both",
    show_default=True,
    help="How negative pairs are drawn: uniform, all pairs alike; degree, both ends in proportion "
    "to their degree; both, one sample of each.",
)
@option(
    "--any-edges",
    is_flag=True,
    help="Also hold out edges whose removal disconnects a component.",
)
@option(
    "--per-node",
    is_flag=True,
    help="Hold out one edge of each node with at least two, to test recommendations; in a "
    "bipartite graph, of each source.",
)
@option("--seed", type=int, default=0, show_default=True, help="Random seed of the split.")
@reading_options
def split(
    terminal: Terminal,
    graph: str,
    output: Path | None,
    links: Path | None,
    share: float | None,
    count: int | None,
    negatives: int,
    sampling: Samplings,
    any_edges: bool,
    per_node: bool,
    seed: int,
    read_options: ReadOptions,
) -> None:
    """Split a graph into training edges and held-out links.

    Components stay connected: an edge whose removal would disconnect one is never held out, unless
    --any-edges is given. The file of --links has the columns source, target, label (1 for a
    held-out edge, 0 for a pair of nodes that is not an edge of the graph) and sampling (how such a
    negative pair was drawn). Embed the training edges, then score the vectors with `hopvec evaluate
    --links`. With --per-node, every node keeps at least one edge; score the vectors with `hopvec
    evaluate --recommend`. Formats are .csv, .tsv, .parquet and .arrow.
    """
    if output is None or links is None:
        raise click.UsageError(
            "Name both output files, such as -o training.parquet --links held-out.csv."
        )
    if share is not None and count is not None:
        raise click.UsageError("Give --share or --count, not both.")
    if per_node and (share is not None or count is not None or any_edges):
        raise click.UsageError(
            "--per-node holds out one edge per node; leave out --share, --count and --any-edges."
        )
    for path in (output, links):
        check_table(path)
        check_not_input(path, [graph, *node_files(read_options.nodes)])
    if os.path.realpath(links) == os.path.realpath(output):
        raise FormatError(f"{links}: the output files must have different names.")
    check_hold_out_params(0.2 if share is None else share, negatives, sampling, seed)
    run = RunReport()
    whole = read(terminal, run, graph, read_options)
    sizes: dict[str, Any] = {"share": share} if share is not None else {"count": count}
    with run.stage("split"), terminal.progress("splitting edges", "%") as progress:
        held_out = hold_out(
            whole,
            **sizes,
            negatives=negatives,
            sampling=sampling,
            connected=not any_edges,
            per_node=per_node,
            seed=seed,
            progress=progress,
        )
    with run.stage("write"), terminal.progress(f"writing {output}", "nodes") as progress:
        held_out.save(links, output, progress=progress)
    run.notes = terminal.notes
    terminal.info_rows(report_rows(run))
    kind = "bipartite" if whole.is_target is not None else None
    kind = kind if whole.symmetric else "directed"  # the file has both entries of an edge
    advice = f", {kind}: embed it with --{kind}" if kind else ""
    training = plural(whole.edges - len(held_out.edges), "training edge")
    terminal.info(f"{output}: {training}{advice}")
    edges = plural(len(held_out.edges), "held-out edge")
    terminal.info(f"{links}: {edges}, negative pairs: {held_out._negatives_text()}")
