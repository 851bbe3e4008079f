"""`hopvec embed --spark`: embeds a table of edges on a Spark cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import given_options
from hopvec.cli.feature_options import features_path
from hopvec.cli.outputs import STDOUT, write_json
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.embedding import Embedding
from hopvec.errors import FormatError, ParameterError
from hopvec.formats.destination import check_writable
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph.age_weights import TimeOptions
from hopvec.graph.columns import ColumnSpec
from hopvec.graph.relation_options import RelationOptions
from hopvec.methods import Method
from hopvec.run_report import RunReport, Stage

SUPPORTED = {
    "--source",
    "--target",
    "--weight",
    "--unweighted",
    "--directed",
    "--nodes",
    "--node-type",
    "--format",
}
SUPPORTED |= {"--relation", "--relation-weights", "--relation-balance", "--relation-direction"}
SUPPORTED |= {"--time", "--half-life", "--as-of", "--since", "--until"}
SUPPORTED |= {"--features", "--features-id", "--output", "-o", "--report"}
RELATION_OPTIONS = ("relation_weights", "relation_balance", "relation_direction")
TIME_OPTIONS = ("time", "half_life", "as_of", "since", "until")
DELIMITED = {".csv": ",", ".tsv": "\t"}


def embed_on_spark(
    terminal: Terminal,
    master: str,
    edges: str,
    output: str,
    read_options: ReadOptions,
    feature_args: dict[str, Any],
    method: Method,
    *,
    like: Embedding | None = None,
    report: Path | None = None,
) -> None:
    """Embed a table of edges that Spark can read, with a table of features if it is given.

    `like` is the reference of comparable vectors; the run report is written to `report`.
    """
    for flag in given_options("Input", "Output"):
        if flag not in SUPPORTED:
            raise click.UsageError(f"--spark does not support {flag}; remove one of them")
    if report is not None and report != STDOUT:
        check_writable(report)
    features = features_path(feature_args)
    from hopvec.spark.embed import run_embed
    from hopvec.spark.parameters import check_method

    # before Spark starts, which takes seconds
    check_method(method, "auto", features is not None)
    with _session(master) as session, terminal.progress("embedding on Spark", "stages") as progress:
        nodes = read_options.nodes
        if nodes is not None and not isinstance(nodes, str):
            raise click.UsageError("--spark reads --nodes from one file or directory")
        found = run_embed(
            _table(session, edges, read_options.format),
            ColumnSpec(
                read_options.source,
                read_options.target,
                read_options.weight,
                read_options.unweighted,
                relation=read_options.relation,
                time=read_options.time,
            ),
            relations=RelationOptions.checked(
                "embed", *(getattr(read_options, name) for name in RELATION_OPTIONS)
            ),
            times=TimeOptions.checked(
                "embed", *(getattr(read_options, name) for name in TIME_OPTIONS)
            ),
            directed=bool(read_options.directed),
            nodes=None if nodes is None else _table(session, nodes, None),
            node_type=read_options.node_type,  # type: ignore[arg-type]  # a name
            features=None if features is None else _table(session, features, None),
            features_id=feature_args["features_id"],
            method=method,  # type: ignore[arg-type]  # checked by check_method
            like=like,
            strategy="auto",
            spill_dir=None,
            output=output if "://" in output else str(Path(output).absolute()),
            progress=progress,
        )
    run = RunReport(
        input={"file": edges, "kind": f"a table read by Spark on {master}"},
        graph=found.metadata.graph,
        parameters=found.metadata.parameters,
        plan=str(found.plan),
        output={"file": output, "vectors": found.nodes, "dim": int(method.dim)},
        notes=terminal.notes,
        stages=[Stage(name, seconds, None) for name, seconds in found.seconds.items()],
    )
    if report is not None:
        write_json(report, run.to_dict())
    terminal.info(f"{output}: {count(found.nodes, 'vector')} of dimension {method.dim}")


@contextmanager
def _session(master: str) -> Iterator[Any]:
    """A Spark session on a master; an active session is reused, and not stopped."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("hopvec").master(master)
    on_interrupt = signal.getsignal(signal.SIGINT)
    warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)  # of pyspark
    logging.getLogger().addHandler(logging.NullHandler())  # no traceback of py4j at Ctrl-C
    try:
        builder = builder.config("spark.sql.session.timeZone", "UTC")  # of times without a zone
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:
        raise ParameterError(
            f"--spark {master}: the session cannot be started ({_first_line(error)}). Spark needs "
            "Java 17 or newer."
        ) from error
    # Spark's handler would ask a Java process that is exiting to cancel its jobs.
    signal.signal(signal.SIGINT, on_interrupt)
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def _table(session: Any, path: str, format_: str | None) -> Any:
    """Read a table: .csv and .tsv files by their suffix, others as Parquet or `format_`."""
    from pyspark.errors import AnalysisException

    suffixes = [suffix for suffix in Path(path.rstrip("/")).suffixes if suffix in DELIMITED]
    reader = session.read
    if format_ == "csv" or (format_ is None and suffixes):
        separator = DELIMITED[suffixes[-1]] if suffixes else ","
        reader = reader.option("header", True).option("inferSchema", True).option("sep", separator)
        format_ = "csv"
    location = path if "://" in path else str(Path(path).absolute())
    try:
        return reader.format(format_ or "parquet").load(location)
    except AnalysisException as error:
        raise FormatError(f"{path}: Spark cannot read it ({_first_line(error)}).") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
