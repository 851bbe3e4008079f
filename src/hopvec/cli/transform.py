"""`hopvec transform`: embeds new nodes into the space of existing vectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import command, option
from hopvec.cli.feature_options import add_features, feature_options, features_file
from hopvec.cli.inputs import graph_argument, is_database, read, reading_options
from hopvec.cli.outputs import check_output, dtype_option, output_path, save_vectors, show_written
from hopvec.cli.reference import reference_run
from hopvec.cli.summary import report_rows
from hopvec.cli.terminal import Terminal
from hopvec.formats.graphs.nodes import node_files
from hopvec.formats.graphs.options import ReadOptions
from hopvec.run_report import RunReport


@command(
    examples=[
        "hopvec transform vectors.parquet new-edges.csv --base edges.csv -o new-vectors.parquet",
    ]
)
@click.argument("vectors", type=click.Path())
@graph_argument
@option(
    "--base",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Graph that VECTORS were made from.",
    heading="Input",
)
@option(
    "-o",
    "--output",
    type=output_path,
    required=True,
    help="Output file for the new vectors; its suffix selects the format, - is CSV on standard "
    "output.",
    heading="Output",
)
@dtype_option
@reading_options
@feature_options
def transform(
    terminal: Terminal,
    vectors: str,
    graph: str,
    base: str,
    output: Path,
    dtype: str,
    read_options: ReadOptions,
    feature_args: dict[str, Any],
) -> None:
    """Embed new nodes into the space of existing vectors.

    GRAPH contains the edges of the new nodes; at least one end of each edge is a new node. The
    input options apply to GRAPH and to the --base graph. New nodes aggregate over the old graph
    but do not change it: VECTORS stay valid, and the new vectors are comparable with them. A
    features file must cover old and new nodes.
    """
    nodes = node_files(read_options.nodes)
    inputs = [vectors, graph, base, *nodes, features_file(feature_args)]
    check_output(output, dtype=dtype, inputs=inputs)
    like, method = reference_run(vectors)
    before, run = RunReport(), RunReport()
    base_options = read_options if is_database(base) else replace(read_options, _query=None)
    old = read(terminal, before, base, base_options, method)
    old = add_features(terminal, before, old, feature_args)
    new = read(terminal, run, graph, read_options, method)
    new = add_features(terminal, run, new, feature_args)
    with terminal.progress("embedding", "%") as progress:
        embedding = method.embed_new(new, graph=old, like=like, progress=progress)
    save_vectors(terminal, embedding, output, dtype)
    notes = [("note", note) for note in dict.fromkeys(terminal.notes)]
    terminal.info_rows([*report_rows(before), *report_rows(run), *notes])
    show_written(terminal, embedding, output)
