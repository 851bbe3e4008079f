"""`hopvec embed`: reads a graph, embeds it, and writes the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from hopvec.cli.command import command, given_options, option
from hopvec.cli.feature_options import add_features, feature_options, features_file
from hopvec.cli.inputs import graph_argument, read, reading_options
from hopvec.cli.method_options import flag, limit_data, method_options
from hopvec.cli.on_spark import embed_on_spark
from hopvec.cli.outputs import (
    STDOUT,
    PathOrUrl,
    check_output,
    dtype_option,
    output_path,
    save_vectors,
    show_written,
    write_json,
)
from hopvec.cli.reference import reference_run
from hopvec.cli.summary import report_rows
from hopvec.cli.terminal import Terminal
from hopvec.embedding import Embedding
from hopvec.formats.destination import bytes_on_disk, check_space
from hopvec.formats.graphs.nodes import node_files
from hopvec.formats.graphs.options import ReadOptions
from hopvec.methods import Method
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.run_report import RunReport

RUNTIME_OPTIONS = tuple(map(flag, RUNTIME_PARAMS))  # the only parameters allowed with --like


@command(
    examples=[
        "hopvec embed edges.csv -o vectors.parquet",
        "hopvec embed edges.parquet -o vectors.parquet --dim 512 --weights 0,0,1,4 --beta -0.9",
        "hopvec embed links.txt -o vectors.npy --source 2 --target 3 --directed --memory 4GB",
        "hopvec embed edges.csv -o vectors.parquet --preset best --dim 128",
        "hopvec embed edges.csv -o vectors.parquet --params tuned/best.json",
        "hopvec embed today.parquet -o today-vectors.parquet --like vectors.parquet",
        "hopvec embed edges.csv -o vectors.parquet --features nodes.csv --feature-weight 2",
        "hopvec embed edges/ -o vectors/ --spark yarn --spill-dir s3://bucket/spill",
        'hopvec embed postgresql://host/db --query "select a, b from follows" -o vectors.parquet',
        "zcat edges.tsv.gz | hopvec embed - -o vectors.parquet --report run.json",
    ]
)
@graph_argument
@option(
    "-o",
    "--output",
    type=PathOrUrl(path_type=Path),
    help="Output file; its suffix selects the format, such as vectors.parquet. With --spark, a "
    "directory of Parquet files.",
    heading="Output",
)
@dtype_option
@option(
    "--like",
    type=click.Path(),
    metavar="FILE",
    help="Vectors of an earlier version of the graph. Reuses the parameters, statistics and random "
    "projection of that run, so that both embeddings can be compared entry by entry.",
)
@option(
    "--spark",
    metavar="MASTER",
    help="Run on Apache Spark: local[*], yarn, spark://host:7077, k8s://... "
    "Edges, --nodes and --features must be Parquet or CSV, and all workers must have access to "
    "--spill-dir. --memory limits each worker, not counting Python itself.",
)
@option(
    "--strategy",
    type=click.Choice(("auto", "columns", "blocks")),
    help="Strategy on Spark: columns if a worker can hold the graph, else blocks; needs --spark.  "
    "[default: auto]",
)
@option(
    "--report",
    type=output_path,
    help="Write the run report as JSON; - is standard output.",
    heading="Output",
)
@reading_options
@feature_options
@method_options
def embed(
    terminal: Terminal,
    graph: str,
    output: Path | str | None,
    dtype: str,
    like: str | None,
    spark: str | None,
    strategy: Literal["auto", "columns", "blocks"] | None,
    report: Path | None,
    read_options: ReadOptions,
    feature_args: dict[str, Any],
    method: Method,
) -> None:
    """Embed a graph: compute one vector per node.

    GRAPH is a file of edges or an adjacency matrix; "-" is standard input. With --query, it is a
    database, such as postgresql://host/database. The report at the end
    shows how it was read: nodes, edges, and the columns used. The same seed gives the same bytes
    for any number of threads and any memory limit.
    """
    if output is None:
        raise click.UsageError("Name the output file, such as -o vectors.parquet.")
    if spark is not None:
        earlier, method = like_run(like, method) if like else (None, method)
        embed_on_spark(
            terminal,
            spark,
            graph,
            str(output),
            read_options,
            feature_args,
            method,
            strategy=strategy or "auto",
            like=earlier,
            report=report,
        )
        return
    if strategy is not None:
        raise click.UsageError("--strategy needs --spark")
    if isinstance(output, str) or "://" in str(method.spill_dir):
        raise click.UsageError("URLs such as s3://bucket/directory need --spark.")
    inputs = [graph, *node_files(read_options.nodes), features_file(feature_args), like]
    check_output(output, report, dtype=dtype, inputs=inputs)
    alignment: dict[str, Embedding] = {}
    if like:
        alignment["like"], method = like_run(like, method)
    if method.spill_dir is None:
        method.set_params(spill_dir=None if output == STDOUT else output.parent)
    memory = method.memory
    limit_data(method)
    run = RunReport()
    read_graph = read(terminal, run, graph, read_options, method)
    if like:
        run.input["like"] = like
    read_graph = add_features(terminal, run, read_graph, feature_args, method.spill_dir)
    plan = method.plan(read_graph)
    run.plan = str(plan)
    if output != STDOUT:
        needed = bytes_on_disk(
            read_graph, plan.dim, output, dtype, state_bytes=method._state_bytes()
        )
        check_space(output, needed)
        check_space(Path(str(method.spill_dir), "spill"), plan.disk)
    with run.stage("embed"), terminal.progress("embedding", "%") as progress:
        embedding = method.embed(read_graph, plan=plan, progress=progress, **alignment)
    run.parameters = embedding.parameters | {"threads": method.threads, "memory": memory}
    del read_graph
    with run.stage("write"):
        save_vectors(terminal, embedding, output, dtype)
    run.output = {
        "file": str(output),
        "vectors": len(embedding),
        "dim": embedding.dim,
        "dtype": dtype,
        "bytes": None if output == STDOUT else output.stat().st_size,
    }
    run.notes = terminal.notes
    if report:
        write_json(report, run.to_dict())
    terminal.info_rows(report_rows(run))
    show_written(terminal, embedding, output)


def like_run(path: str, method: Method) -> tuple[Embedding, Method]:
    """The earlier run in a file, and its method with the runtime parameters of `method`."""
    reject_parameters()
    embedding, reference = reference_run(path)
    return embedding, reference.set_params(
        **{name: getattr(method, name) for name in RUNTIME_PARAMS}
    )


def reject_parameters() -> None:
    """Raise UsageError for any parameter given with --like, except runtime parameters."""
    others = [name for name in given_options("Method") if name not in RUNTIME_OPTIONS]
    if others:
        raise click.UsageError(f"--like takes all parameters from its file; remove {others[0]}")
