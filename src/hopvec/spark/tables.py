"""Tables: the intermediate results of a run, as Parquet in a directory that all workers can reach.

If a worker is lost, only its part of the current stage is computed again.
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

logger: logging.Logger = logging.getLogger("hopvec")

# Rows per Arrow batch: of chunks of nodes, up to some hundred kilobytes each, or of single nodes.
CHUNK_BATCH = 64
NODE_BATCH = 1 << 16
READER_BATCH = 4096  # Spark's default for rows read from Parquet at a time
ARROW_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
READER_BATCH_SETTING = "spark.sql.parquet.columnarReaderBatchSize"
DESCRIPTION = "spark.job.description"


@dataclass
class Tables:
    """The tables of one run, and a Spark session with its own settings that reads them."""

    session: SparkSession
    directory: str
    on_stage: Callable[[int], object] = lambda stages: None
    """Called with the number of finished stages."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The time of each stage."""
    written: set[str] = field(default_factory=set)
    """The names of the existing tables."""

    @classmethod
    def create(
        cls, session: SparkSession, spill_dir: str | None, on_stage: Callable[[int], object]
    ) -> Tables:
        """Create the directory of a new run in `spill_dir`; deleted when the application ends."""
        base = spill_dir or _default_spill_dir(session)
        tables = cls(session.newSession(), f"{base.rstrip('/')}/hopvec-{uuid4().hex}", on_stage)
        path, file_system = tables._hadoop(tables.directory)
        file_system.mkdirs(path)
        file_system.deleteOnExit(path)
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
        path, file_system = self._hadoop(self.path(name))
        file_system.mkdirs(path)
        self.written.add(name)

    def run(self, stage: str, action: Callable[[], Any], *, batch: int = CHUNK_BATCH) -> Any:
        """Run an action of Spark as a named stage, and return its result."""
        context = self.session.sparkContext
        description, start = context.getLocalProperty(DESCRIPTION), perf_counter()
        self.session.conf.set(ARROW_BATCH_SETTING, str(batch))
        self.session.conf.set(READER_BATCH_SETTING, str(min(batch, READER_BATCH)))
        context.setLocalProperty(DESCRIPTION, f"hopvec: {stage}")
        try:
            result = action()
        finally:
            context.setLocalProperty(DESCRIPTION, description)
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
            path, file_system = self._hadoop(self.path(name))
            file_system.delete(path, True)
            self.written.discard(name)

    def write_text(self, path: str, text: str) -> None:
        """Write a text file."""
        hadoop_path, file_system = self._hadoop(path)
        stream = file_system.create(hadoop_path)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def refuse_existing(self, path: str) -> None:
        """Raise FormatError if the path of an output exists already."""
        hadoop_path, file_system = self._hadoop(path)
        if file_system.exists(hadoop_path):
            raise FormatError(f"{path} exists already. Choose a new directory.")

    def _hadoop(self, path: str) -> tuple[Any, Any]:
        """A path and its file system, as objects of Hadoop."""
        context = self.session.sparkContext
        hadoop_path = context._jvm.org.apache.hadoop.fs.Path(path)
        return hadoop_path, hadoop_path.getFileSystem(context._jsc.hadoopConfiguration())


def whole_worker(session: SparkSession, cores: int) -> ResourceProfile | None:
    """A resource profile for tasks that use all cores of a worker.

    None on a local master, where the cores per task are always those of spark.task.cpus.
    """
    if session.sparkContext.master.startswith(("local[", "local ")) or cores == 1:
        return None
    return ResourceProfileBuilder().require(TaskResourceRequests().cpus(cores)).build


def _default_spill_dir(session: SparkSession) -> str:
    """`/tmp` of the cluster's file system, or the temporary directory of a local master."""
    context = session.sparkContext
    shared = str(context._jsc.hadoopConfiguration().get("fs.defaultFS"))
    if not shared.startswith("file:"):
        return f"{shared.rstrip('/')}/tmp"
    if not context.master.startswith("local"):
        raise ParameterError(
            f"embed: the workers of {context.master} have no shared file system that Spark knows "
            "of. Set spill_dir= to a directory that all of them can reach, such as "
            "'s3://bucket/spill'."
        )
    return tempfile.gettempdir()
