"""`hopvec transform`: vectors for nodes that come after a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.feature_options import add_features, feature_options, features_file
from hopvec.cli.inputs import graph_argument, read, reading_options
from hopvec.cli.outputs import check_output, dtype_option, output_path
from hopvec.cli.reference import earlier_run
from hopvec.cli.summary import count, report_rows
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import option, verb
from hopvec.machine import in_words
from hopvec.run_report import RunReport


@verb(
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
    help="The graph that VECTORS were made from.",
    heading="Input",
)
@option(
    "-o",
    "--output",
    type=output_path,
    required=True,
    help="File of the new vectors; its suffix names the format.",
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
    reading: dict[str, Any],
    known: dict[str, Any],
) -> None:
    """Embed nodes that come after a run.

    GRAPH holds edges that have a new node at one end or both; the options of reading are for it
    and for the file of --base. The new nodes look at the old graph, nothing flows back, and their
    vectors are comparable with VECTORS, which stay as they are. Features are those of old and new
    nodes in one file.
    """
    inputs = [vectors, graph, base, reading["nodes"], features_file(known)]
    check_output(output, dtype=dtype, inputs=inputs)
    like, method = earlier_run(vectors)
    before, run = RunReport(), RunReport()
    old = add_features(terminal, before, read(terminal, before, base, reading, method), known)
    new = add_features(terminal, run, read(terminal, run, graph, reading, method), known)
    with terminal.progress("embedding", "%") as progress:
        embedding = method.embed_new(new, graph=old, like=like, progress=progress)
    with terminal.progress(f"writing {output}", "rows") as progress:
        embedding.save(output, dtype=dtype, progress=progress)
    notes = [("note", note) for note in dict.fromkeys(terminal.notes)]
    terminal.facts([*report_rows(before), *report_rows(run), *notes])
    terminal.say(
        f"{output}: {count(len(embedding), 'vector')} of {count(embedding.dim, 'column')}, "
        f"{in_words(output.stat().st_size)}"
    )
