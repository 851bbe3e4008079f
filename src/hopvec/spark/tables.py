"""Tables: what a run keeps between its stages, as Parquet in a folder that all workers reach.

A worker that is lost costs a stage the part it was computing, never the stages before.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import uuid4

from pyspark.resource import ResourceProfile, ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import DataFrame, SparkSession

from hopvec.errors import FormatError, ParameterError

logger = logging.getLogger("hopvec")

FEW_ROWS = 64  # of chunks of nodes, in memory at a time: each has up to some hundred kilobytes
MANY_ROWS = 1 << 16  # of single edges or nodes
READER_ROWS = 4096  # that Spark reads of Parquet at a time, unless told otherwise
BATCHES = "spark.sql.execution.arrow.maxRecordsPerBatch"
READER_BATCHES = "spark.sql.parquet.columnarReaderBatchSize"
DESCRIPTION = "spark.job.description"


@dataclass
class Tables:
    """The tables of one run, and the Spark session with its own settings that reads them."""

    session: SparkSession
    folder: str
    told: Callable[[int], object] = lambda stages: None
    """Called with the number of stages done."""
    seconds: dict[str, float] = field(default_factory=dict)
    """What each stage took."""
    written: set[str] = field(default_factory=set)
    """The tables that are there."""

    @classmethod
    def create(
        cls, session: SparkSession, spill_dir: str | None, told: Callable[[int], object]
    ) -> Tables:
        """The tables of a new run, below `spill_dir`; deleted when the application ends."""
        base = spill_dir or _default_spill_dir(session)
        tables = cls(session.newSession(), f"{base.rstrip('/')}/hopvec-{uuid4().hex}", told)
        path, file_system = tables._hadoop(tables.folder)
        file_system.mkdirs(path)
        file_system.deleteOnExit(path)
        return tables

    def path(self, name: str) -> str:
        """Where a table lies."""
        return f"{self.folder}/{name}"

    def write(
        self,
        name: str,
        frame: DataFrame,
        *,
        doing: str,
        batch: int = FEW_ROWS,
        path: str | None = None,
    ) -> DataFrame:
        """Computes a table, at another place if `path` names one, and reads it back.

        `doing` is what Spark's pages show, and the name of the stage in `seconds`. So many rows as
        a `batch` are read, or go through Arrow, at a time.
        """
        writer = frame.write.option("compression", "none")
        writer = writer.option("parquet.enable.dictionary", "false")
        for part in ("block", "page"):  # a row may have megabytes: do not wait for a hundred
            writer = writer.option(f"parquet.{part}.size.row.check.min", "1")
        self.written.add(name)
        self.run(doing, lambda: writer.parquet(path or self.path(name)), batch=batch)
        return self.read(name) if path is None else self.session.read.parquet(path)

    def make_folder(self, name: str) -> None:
        """Makes a folder for files that tasks write themselves."""
        path, file_system = self._hadoop(self.path(name))
        file_system.mkdirs(path)
        self.written.add(name)

    def run(self, doing: str, action: Callable[[], Any], *, batch: int = FEW_ROWS) -> Any:
        """The result of an action of Spark, under a name."""
        context = self.session.sparkContext
        before, start = context.getLocalProperty(DESCRIPTION), perf_counter()
        self.session.conf.set(BATCHES, str(batch))
        self.session.conf.set(READER_BATCHES, str(min(batch, READER_ROWS)))
        context.setLocalProperty(DESCRIPTION, f"hopvec: {doing}")
        try:
            result = action()
        finally:
            context.setLocalProperty(DESCRIPTION, before)
        self.seconds[doing] = self.seconds.get(doing, 0.0) + perf_counter() - start
        logger.info("%s: %.1f s", doing, perf_counter() - start)
        self.told(len(self.seconds))
        return result

    def read(self, name: str) -> DataFrame:
        """A table that was written."""
        return self.session.read.parquet(self.path(name))

    def drop(self, *names: str) -> None:
        """Deletes tables that are no longer needed."""
        for name in names:
            path, file_system = self._hadoop(self.path(name))
            file_system.delete(path, True)
            self.written.discard(name)

    def refuse_existing(self, path: str) -> None:
        """Raises FormatError if there is something where a table is to be written."""
        hadoop_path, file_system = self._hadoop(path)
        if file_system.exists(hadoop_path):
            raise FormatError(f"{path}: there is something already. Name a folder that is new.")

    def _hadoop(self, path: str) -> tuple[Any, Any]:
        """A path and its file system, as Hadoop sees them."""
        context = self.session.sparkContext
        hadoop_path = context._jvm.org.apache.hadoop.fs.Path(path)
        return hadoop_path, hadoop_path.getFileSystem(context._jsc.hadoopConfiguration())


def whole_worker(session: SparkSession, cores: int) -> ResourceProfile | None:
    """What makes Spark give a task all cores of a worker, where it can.

    On one machine alone it cannot: a task has the cores that spark.task.cpus says.
    """
    if session.sparkContext.master.startswith(("local[", "local ")) or cores == 1:
        return None
    return ResourceProfileBuilder().require(TaskResourceRequests().cpus(cores)).build


def _default_spill_dir(session: SparkSession) -> str:
    """A folder of the cluster's own file system, or of this machine where that is the cluster."""
    context = session.sparkContext
    shared = str(context._jsc.hadoopConfiguration().get("fs.defaultFS"))
    if not shared.startswith("file:"):
        return f"{shared.rstrip('/')}/tmp"
    if not context.master.startswith("local"):
        raise ParameterError(
            f"embed: the workers of {context.master} share no file system that Spark knows of. "
            "Give scratch, a folder that all of them reach, such as 's3://bucket/spill'."
        )
    return tempfile.gettempdir()
