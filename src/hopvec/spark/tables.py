"""Tables: the intermediate results of a run, as Parquet in a directory that all workers can reach.

If a worker is lost, only its part of the current stage is computed again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.resource import ResourceProfile, ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import DataFrame, SparkSession

from hopvec.errors import FormatError, ParameterError
from hopvec.spark.session import (
    Backend,
    backend_of,
    check_installed,
    is_local,
    spill_directory,
)

logger: logging.Logger = logging.getLogger("hopvec")

# Rows per Arrow batch: of chunks of nodes, up to some hundred kilobytes each, or of single nodes.
CHUNK_BATCH = 64
NODE_BATCH = 1 << 16
READER_BATCH = 4096  # Spark's default for rows read from Parquet at a time
ARROW_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
READER_BATCH_SETTING = "spark.sql.parquet.columnarReaderBatchSize"


@dataclass
class Tables:
    """The tables of one run, and a Spark session with its own settings that reads them."""

    session: SparkSession
    backend: Backend
    directory: str
    on_stage: Callable[[int], object] = lambda stages: None
    """Called with the number of finished stages."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The time of each stage."""
    written: set[str] = field(default_factory=set)
    """The names of the existing tables."""
    kept: bool = True
    """Whether tables can be kept until the application ends."""

    @classmethod
    def create(
        cls, session: SparkSession, spill_dir: str | None, on_stage: Callable[[int], object]
    ) -> Tables:
        """Create the directory of a new run in `spill_dir`; deleted when the application ends."""
        backend = backend_of(session)
        base = spill_dir or spill_directory(backend)
        directory = f"{base.rstrip('/')}/hopvec-{uuid4().hex}"
        tables = cls(backend.run_session(), backend, directory, on_stage)
        backend.make_directory(directory)
        tables.kept = backend.delete_on_exit(directory)
        return tables

    def path(self, name: str) -> str:
        """The path of a table."""
        return f"{self.directory}/{name}"

    def write(
        self,
        name: str,
        frame: DataFrame,
        *,
        stage: str,
        batch: int = CHUNK_BATCH,
        path: str | None = None,
    ) -> DataFrame:
        """Compute a table, write it to `path` or to the directory of the run, and read it back.

        `stage` is the description in Spark's user interface and the key in `seconds`. `batch` is
        the number of rows per batch, of Parquet and of Arrow.
        """
        writer = frame.write.option("compression", "none")
        writer = writer.option("parquet.enable.dictionary", "false")
        for part in ("block", "page"):  # a row can have megabytes: check the size at every row
            writer = writer.option(f"parquet.{part}.size.row.check.min", "1")
        self.written.add(name)
        self.run(stage, lambda: writer.parquet(path or self.path(name)), batch=batch)
        return self.read(name) if path is None else self.session.read.parquet(path)

    def make_directory(self, name: str) -> None:
        """Create a directory for files that tasks write themselves."""
        self.backend.make_directory(self.path(name))
        self.written.add(name)

    def run(self, stage: str, action: Callable[[], Any], *, batch: int = CHUNK_BATCH) -> Any:
        """Run an action of Spark as a named stage, and return its result."""
        start = perf_counter()
        settings = {
            ARROW_BATCH_SETTING: str(batch),
            READER_BATCH_SETTING: str(min(batch, READER_BATCH)),
        }
        before = {name: self.session.conf.get(name) for name in settings}
        try:
            for name, value in settings.items():
                self.session.conf.set(name, value)
            with self.backend.stage(stage):
                result = action()
        except PySparkException as error:
            check_installed(error)
            raise
        finally:
            for name, earlier in before.items():
                self.session.conf.set(name, str(earlier))
        self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - start
        logger.info("%s: %.1f s", stage, perf_counter() - start)
        self.on_stage(len(self.seconds))
        return result

    def read(self, name: str) -> DataFrame:
        """Read a table of this run."""
        return self.session.read.parquet(self.path(name))

    def drop(self, *names: str) -> None:
        """Delete tables that are no longer needed."""
        for name in names:
            self.backend.delete(self.path(name))
            self.written.discard(name)

    def check_output(self, output: str | None) -> None:
        """Raise FormatError if the path of an output exists, ParameterError if one is needed."""
        if output is None and not self.kept:
            self.discard()
            raise ParameterError(
                "embed: Spark Connect cannot delete vectors when the application ends. Set output= "
                "to the directory that keeps them."
            )
        if output is not None and self.backend.exists(output):
            self.discard()
            raise FormatError(f"{output} exists already. Choose a new directory.")

    def discard(self) -> None:
        """Delete all tables, unless they are deleted when the application ends."""
        if not self.kept:
            self.backend.delete(self.directory)


def whole_worker(master: str, cores: int) -> ResourceProfile | None:
    """A resource profile for tasks that use all cores of a worker.

    None on a local master, where the cores per task are always those of spark.task.cpus.
    """
    if cores == 1 or is_local(master):
        return None
    return ResourceProfileBuilder().require(TaskResourceRequests().cpus(cores)).build
