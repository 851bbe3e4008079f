"""`hopvec estimate`: time, memory and disk space of a run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from hopvec.cli.command import command, option
from hopvec.cli.feature_options import add_features, feature_options, features_file
from hopvec.cli.inputs import graph_argument, read, reading_options
from hopvec.cli.method_options import limit_data, method_options
from hopvec.cli.outputs import dtype_option, json_option, output_path
from hopvec.cli.summary import graph_rows, input_rows
from hopvec.cli.terminal import Terminal, duration
from hopvec.formats import format_to_write
from hopvec.formats.destination import bytes_on_disk
from hopvec.formats.graphs.options import ReadOptions
from hopvec.machine import format_bytes
from hopvec.memory import PROGRAM_BYTES, rounded_up
from hopvec.methods import Method
from hopvec.methods.estimate import estimate as estimate_run
from hopvec.run_report import RunReport


@command(
    examples=[
        "hopvec estimate edges.parquet --dim 512",
        "hopvec estimate edges.csv --memory 2GB",
        "hopvec estimate edges.csv -o vectors.csv --json",
    ]
)
@graph_argument
@option(
    "-o",
    "--output",
    type=output_path,
    default="vectors.parquet",
    show_default=True,
    help="Output file of the run. It is not written; its suffix determines the size.",
    heading="Output",
)
@dtype_option
@json_option
@reading_options
@feature_options
@method_options
def estimate(
    terminal: Terminal,
    graph: str,
    output: Path,
    dtype: str,
    as_json: bool,
    read_options: ReadOptions,
    feature_args: dict[str, Any],
    method: Method,
) -> None:
    """Estimate time, memory and disk space before a run.

    Takes the same options as `hopvec embed`. The graph is read and a sample of the work is timed,
    but nothing is written.
    """
    format_to_write(output, dtype)
    features_file(feature_args)
    parameters = {"method": type(method).__name__, **method._plain_params()}
    limit_data(method)
    run = RunReport()
    read_graph = read(terminal, run, graph, read_options, method)
    read_graph = add_features(terminal, run, read_graph, feature_args)
    with terminal.progress("timing a sample", "%") as progress:
        expected = estimate_run(read_graph, method, progress=progress)
    plan = expected.plan
    memory = expected.bytes + PROGRAM_BYTES  # as --memory counts
    disk = bytes_on_disk(read_graph, plan.dim, output, dtype, state_bytes=method._state_bytes())
    temporary = plan.disk + (read_graph.nbytes if read_graph._mapped else 0)
    read_seconds = run.seconds
    if as_json:
        terminal.print_json(
            {
                "seconds": expected.seconds,
                "read_seconds": read_seconds,
                "memory_bytes": memory,
                "disk_bytes": disk,
                "temporary_bytes": temporary,
                "plan": asdict(plan),
                "parameters": parameters,
                "graph": run.graph,
                "input": run.input,
                "notes": terminal.notes,
            }
        )
        return
    also = f", and {format_bytes(temporary)} for temporary files" if temporary else ""
    terminal.print_rows(
        [
            *input_rows(run.input),
            *graph_rows(run.graph, run.input),
            (
                "time",
                f"about {duration(expected.seconds)} to embed, {duration(read_seconds)} to read, "
                f"plus the time to write {format_bytes(disk)}",
            ),
            (
                "memory",
                f"{format_bytes(rounded_up(memory))}, including "
                f"{format_bytes(plan.bytes.graph)} for the graph and "
                f"{format_bytes(PROGRAM_BYTES)} for the program",
            ),
            ("disk", f"about {format_bytes(disk)} for a {output.suffix} file in {dtype}{also}"),
            ("plan", str(plan)),
            *(("note", note) for note in terminal.notes),
        ]
    )
