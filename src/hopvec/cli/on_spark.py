"""`hopvec embed --spark`: from a folder of edges to a folder of vectors, on a cluster."""

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

from hopvec.cli.feature_options import features_place
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import given_options
from hopvec.errors import FormatError, ParameterError
from hopvec.methods import Method

TAKEN = {"--source", "--target", "--weight", "--unweighted", "--directed", "--nodes", "--format"}
TAKEN |= {"--features", "--features-id", "--output", "-o", "--spill-dir"}
DELIMITED = {".csv": ",", ".tsv": "\t"}


def embed_on_spark(
    terminal: Terminal,
    master: str,
    edges: str,
    output: str,
    spill_dir: Path | str | None,
    reading: dict[str, Any],
    known: dict[str, Any],
    method: Method,
) -> None:
    """Embeds a table of edges, with one of features if there is one, that Spark can read."""
    for flag in given_options("Input", "Output"):
        if flag not in TAKEN:
            raise click.UsageError(f"--spark knows no {flag}; leave one of them out")
    if given_options("Options") != ["--spark"]:
        raise click.UsageError("--spark makes no vectors like others; leave --like out")
    features = features_place(known)
    from hopvec.spark import embed
    from hopvec.spark.estimate import check_method

    check_method(method, "auto", features is not None)  # before Spark takes seconds to start
    with _session(master) as session, terminal.progress("embedding on Spark", "stages") as progress:
        nodes = reading["nodes"]
        vectors = embed(
            _table(session, edges, reading["format"]),
            **{name: reading[name] for name in ("source", "target", "weight", "unweighted")},
            directed=bool(reading["directed"]),
            nodes=None if nodes is None else _table(session, nodes, None),
            **_features(session, features, known["features_id"]),
            method=method,  # type: ignore[arg-type]  # check_method has seen that it is FastRP
            spill_dir=None if spill_dir is None else str(spill_dir),
            output=output if "://" in output else str(Path(output).absolute()),
            progress=progress,
        )
        rows = vectors.count()
    terminal.say(f"{output}: {count(rows, 'vector')} of {count(int(method.dim), 'column')}")


@contextmanager
def _session(master: str) -> Iterator[Any]:
    """A Spark session on a master; one that is there already is used, and not stopped."""
    from pyspark.sql import SparkSession

    there = SparkSession.getActiveSession()
    if there is not None:
        yield there
        return
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("hopvec").master(master)
    on_interrupt = signal.getsignal(signal.SIGINT)
    warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)  # of pyspark
    logging.getLogger().addHandler(logging.NullHandler())  # py4j would tell of Ctrl-C at length
    try:
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:
        raise ParameterError(
            f"--spark {master}: there is no session to be had ({_first_line(error)}). Spark needs "
            "Java 17 or newer."
        ) from error
    signal.signal(signal.SIGINT, on_interrupt)  # Spark's own asks a dying Java to cancel its jobs
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def _features(session: Any, path: str | None, id_column: str | None) -> dict[str, Any]:
    """The arguments that tell of features."""
    if path is None:
        return {}
    return {"features": _table(session, path, None), "features_id": id_column}


def _table(session: Any, path: str, format_: str | None) -> Any:
    """A table of Parquet, or another format of Spark; files that end with .csv or .tsv as such."""
    from pyspark.errors import AnalysisException

    suffixes = [suffix for suffix in Path(path.rstrip("/")).suffixes if suffix in DELIMITED]
    reader = session.read
    if format_ == "csv" or (format_ is None and suffixes):
        separator = DELIMITED[suffixes[-1]] if suffixes else ","
        reader = reader.option("header", True).option("inferSchema", True).option("sep", separator)
        format_ = "csv"
    place = path if "://" in path else str(Path(path).absolute())
    try:
        return reader.format(format_ or "parquet").load(place)
    except AnalysisException as error:
        raise FormatError(f"{path}: Spark cannot read it ({_first_line(error)}).") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
