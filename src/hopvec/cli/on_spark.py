"""`hopvec embed --spark`: embeds a table of edges on a Spark cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click

from hopvec.cli.command import given_options
from hopvec.cli.feature_options import features_path
from hopvec.cli.inputs import check_exists, is_database
from hopvec.cli.outputs import STDOUT, write_json
from hopvec.cli.summary import count, report_rows
from hopvec.cli.terminal import Terminal
from hopvec.embedding import Embedding
from hopvec.errors import FormatError, ParameterError
from hopvec.formats.destination import check_writable
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.relation_files import relation_files
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
WILDCARDS = {*"*?[{"}  # which Spark expands
PARQUET_MAGIC = b"PAR1"


def embed_on_spark(
    terminal: Terminal,
    master: str,
    edges: str,
    output: str,
    read_options: ReadOptions,
    feature_args: dict[str, Any],
    method: Method,
    *,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
    like: Embedding | None = None,
    report: Path | None = None,
) -> None:
    """Embed a table of edges that Spark can read, with a table of features if it is given.

    What can be checked without Spark is checked first: its session takes seconds to start.

    `like` is the reference of comparable vectors; the run report is written to `report`.
    """
    for flag in given_options("Input", "Output"):
        if flag not in SUPPORTED:
            raise click.UsageError(f"--spark does not support {flag}; remove one of them")
    if report is not None and report != STDOUT:
        check_writable(report)
    features = features_path(feature_args)
    nodes = read_options.nodes
    _check_kinds(edges, output, nodes)
    from hopvec.spark.embed import run_embed
    from hopvec.spark.parameters import check_method

    # before Spark starts, which takes seconds
    check_method(method, strategy, features is not None)
    relations = RelationOptions.checked(
        "embed", *(getattr(read_options, name) for name in RELATION_OPTIONS)
    )
    times = TimeOptions.checked("embed", *(getattr(read_options, name) for name in TIME_OPTIONS))
    if _reads_local_paths(master):
        for path, format_ in ((edges, read_options.format), (nodes, None), (features, None)):
            if path is not None:
                _check_local_table(path, format_)
        if "://" not in output and Path(output).exists():
            raise FormatError(f"{output} exists already. Choose a new directory.")
    with _session(master) as session, terminal.progress("embedding on Spark", "stages") as progress:
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
            relations=relations,
            times=times,
            directed=bool(read_options.directed),
            nodes=None if nodes is None else _table(session, nodes, None),
            node_type=read_options.node_type,  # type: ignore[arg-type]  # a name
            features=None if features is None else _table(session, features, None),
            features_id=feature_args["features_id"],
            method=method,  # type: ignore[arg-type]  # checked by check_method
            like=like,
            strategy=strategy,
            spill_dir=None,
            output=output if "://" in output else str(Path(output).absolute()),
            progress=progress,
            name=edges,
        )
    kind = f"{_format(edges, read_options.format)}, read by Spark on {master}"
    run = RunReport(
        input={"file": edges, "kind": kind} | found.columns,
        graph=found.metadata.graph,
        parameters=found.metadata.parameters,
        plan=str(found.plan),
        output={"file": output, "vectors": found.nodes, "dim": int(method.dim)},
        notes=terminal.notes,
        stages=[Stage(name, seconds, None) for name, seconds in found.seconds.items()],
    )
    if report is not None:
        write_json(report, run.to_dict())
    total = Stage("embed", run.seconds, None)  # of up to thirty stages; --report has them all
    terminal.info_rows(report_rows(replace(run, stages=[total])))
    terminal.info(f"{output}: {count(found.nodes, 'vector')} of dimension {method.dim}")


def _check_kinds(edges: str, output: str, nodes: Any) -> None:
    """Raise UsageError unless the edges and the nodes are one table each, and the output too."""
    if relation_files(edges) is not None:
        raise click.UsageError("--spark reads one table of edges; use --relation COLUMN")
    if edges == "-" or is_database(edges):
        raise click.UsageError("--spark reads edges from a file or directory")
    if nodes is not None and not isinstance(nodes, str):
        raise click.UsageError("--spark reads --nodes from one file or directory")
    if output == str(STDOUT):
        raise click.UsageError("--spark writes a directory; name a new one with --output")


def _reads_local_paths(master: str) -> bool:
    """Whether paths without a scheme are files of this machine, and not of a cluster."""
    return master.startswith("local") and "HADOOP_CONF_DIR" not in os.environ


def _check_local_table(path: str, format_: str | None) -> None:
    """Raise FormatError for a table that does not exist, or is not in its format."""
    if "://" in path or WILDCARDS & {*path}:
        return
    check_exists(path)
    file = _first_file(Path(path))
    if file is None:
        return
    with file.open("rb") as opened:
        is_parquet = opened.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    expected = _format(path, format_)
    if expected == "Parquet" and not is_parquet:
        raise FormatError(
            f"{path}: --spark reads Parquet, or CSV with a header if the name ends in .csv or "
            ".tsv. Convert or rename it first."
        )
    if expected == "CSV" and is_parquet:
        raise FormatError(f"{path}: this is Parquet, not CSV. Leave --format out, or rename it.")


def _first_file(path: Path) -> Path | None:
    """A file, or some file of a directory that Spark would read; None if there is none."""
    if path.is_file():
        return path
    hidden = (".", "_")
    return next(
        (
            file
            for file in path.rglob("*")
            if file.is_file()
            and not any(part.startswith(hidden) for part in file.relative_to(path).parts)
        ),
        None,
    )


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


def _format(path: str, format_: str | None) -> str:
    """The format of a table: CSV if a suffix says so, else Parquet, unless `format_` is given."""
    names = {"csv": "CSV", "parquet": "Parquet"}
    if format_ is not None:
        return names.get(format_, format_)
    return "CSV" if _delimited(path) else "Parquet"


def _delimited(path: str) -> list[str]:
    """The suffixes of a path that are those of delimited text."""
    return [suffix for suffix in Path(path.rstrip("/")).suffixes if suffix in DELIMITED]


def _table(session: Any, path: str, format_: str | None) -> Any:
    """Read a table: .csv and .tsv files by their suffix, others as Parquet or `format_`."""
    from pyspark.errors import PySparkException

    reader, format_ = session.read, _format(path, format_)
    if format_ == "CSV":
        separator = DELIMITED[_delimited(path)[-1]] if _delimited(path) else ","
        reader = reader.option("header", True).option("inferSchema", True).option("sep", separator)
    location = path if "://" in path else str(Path(path).absolute())
    try:
        return reader.format(format_.lower()).load(location)
    except PySparkException as error:
        raise FormatError(f"{path}: Spark cannot read it ({_first_line(error)}).") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
