"""What a run needs of a session besides DataFrames: files, executors, names of stages.

A classic session has a SparkContext. Spark Connect has none: tasks do its work instead.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.fs
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from hopvec.errors import MissingExtraError, ParameterError
from hopvec.machine import available_memory
from hopvec.spark.files import file_system

DESCRIPTION = "spark.job.description"
MANY_ROWS = 1 << 20  # of a range that has as many partitions as tasks can run at a time
MISSING = "No module named 'hopvec'"  # the error of a worker
PROBE_SECONDS = 1.0  # of a task, so that all executors get one


class Backend(Protocol):
    """Access to the cluster of a session."""

    @property
    def context(self) -> SparkContext | None:
        """The SparkContext, if there is one."""

    @property
    def master(self) -> str:
        """The master, such as 'yarn'."""

    @property
    def parallelism(self) -> int:
        """The number of tasks that run at a time."""

    def run_session(self) -> SparkSession:
        """The session of a run, with settings of its own if possible."""

    def workers(self) -> tuple[int, int]:
        """The number of executors and the cores of each; with a local master, (cores, 1)."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Name the jobs of a block in Spark's user interface."""

    def shared_directory(self) -> str | None:
        """The default directory that all workers can reach, if there is one."""

    def make_directory(self, path: str) -> None:
        """Create a directory."""

    def delete(self, path: str) -> None:
        """Delete a directory if it exists."""

    def delete_on_exit(self, path: str) -> bool:
        """Delete a directory when the application ends; False if that is not possible."""

    def exists(self, path: str) -> bool:
        """Whether a file or directory exists."""

    def write_text(self, path: str, text: str) -> None:
        """Write a text file."""


def backend_of(session: SparkSession) -> Backend:
    """The backend of a session."""
    classic = isinstance(session.range(0), ClassicDataFrame)
    return ClassicBackend(session) if classic else ConnectBackend(session)


def is_local(master: str) -> bool:
    """Whether a master runs all tasks in one process."""
    return master == "local" or master.startswith("local[")


def spill_directory(backend: Backend) -> str:
    """The default spill directory. Raises ParameterError if workers share no file system."""
    shared = backend.shared_directory()
    if shared is not None:
        return shared
    if not backend.master.startswith("local"):
        raise ParameterError(
            f"embed: the workers of {backend.master} have no shared file system that Spark knows "
            "of. Set spill_dir= to a directory that all of them can reach, such as "
            "'s3://bucket/spill'."
        )
    return tempfile.gettempdir()


class ClassicBackend:
    """Uses the SparkContext, and Hadoop's file systems."""

    def __init__(self, session: SparkSession) -> None:
        self._session, self._context = session, session.sparkContext

    @property
    def context(self) -> SparkContext:
        """The SparkContext."""
        return self._context

    def run_session(self) -> SparkSession:
        """A session with settings of its own."""
        return self._session.newSession()

    @property
    def master(self) -> str:
        """The master, such as 'yarn'."""
        return str(self._context.master)

    @property
    def parallelism(self) -> int:
        """The number of tasks that run at a time."""
        return int(self._context.defaultParallelism)

    def workers(self) -> tuple[int, int]:
        """The number of executors and the cores of each; with a local master, (cores, 1)."""
        if is_local(self.master):
            return self.parallelism, 1
        # defaultParallelism cannot be used: it can be configured, and is at least 2.
        known = self._context._jsc.sc().statusStore().executorList(True)
        executors = [known.apply(at) for at in range(known.size())]
        cores = [int(one.totalCores()) for one in executors if one.id() != "driver"]
        return max(1, len(cores)), max(1, min(cores, default=1))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Name the jobs of a block in Spark's user interface."""
        before = self._context.getLocalProperty(DESCRIPTION)
        self._context.setLocalProperty(DESCRIPTION, f"hopvec: {name}")
        try:
            yield
        finally:
            self._context.setLocalProperty(DESCRIPTION, before)

    def shared_directory(self) -> str | None:
        """`/tmp` of the cluster's file system, unless that is a local disk."""
        shared = str(self._context._jsc.hadoopConfiguration().get("fs.defaultFS"))
        return None if shared.startswith("file:") else f"{shared.rstrip('/')}/tmp"

    def make_directory(self, path: str) -> None:
        """Create a directory."""
        hadoop_path, files = self._hadoop(path)
        files.mkdirs(hadoop_path)

    def delete(self, path: str) -> None:
        """Delete a directory if it exists."""
        hadoop_path, files = self._hadoop(path)
        files.delete(hadoop_path, True)

    def delete_on_exit(self, path: str) -> bool:
        """Delete a directory when the application ends."""
        hadoop_path, files = self._hadoop(path)
        return bool(files.deleteOnExit(hadoop_path))

    def exists(self, path: str) -> bool:
        """Whether a file or directory exists."""
        hadoop_path, files = self._hadoop(path)
        return bool(files.exists(hadoop_path))

    def write_text(self, path: str, text: str) -> None:
        """Write a text file."""
        hadoop_path, files = self._hadoop(path)
        stream = files.create(hadoop_path)
        try:
            stream.write(bytearray(text, "utf-8"))
        finally:
            stream.close()

    def _hadoop(self, path: str) -> tuple[Any, Any]:
        """A path and its file system, as objects of Hadoop."""
        context = self._context
        hadoop_path = context._jvm.org.apache.hadoop.fs.Path(path)
        return hadoop_path, hadoop_path.getFileSystem(context._jsc.hadoopConfiguration())


class ConnectBackend:
    """Uses tasks, which access files with pyarrow."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        parts = session.range(MANY_ROWS).select(F.spark_partition_id()).distinct()
        self._parallelism = int(parts.count())

    @property
    def context(self) -> None:
        """None: Spark Connect has no SparkContext."""

    def run_session(self) -> SparkSession:
        """The session itself: pyspark waits forever at exit if a client has two."""
        return self._session

    @property
    def master(self) -> str:
        """The master, such as 'yarn'."""
        return str(self._session.conf.get("spark.master", "Spark Connect"))

    @property
    def parallelism(self) -> int:
        """The number of tasks that run at a time."""
        return self._parallelism

    def workers(self) -> tuple[int, int]:
        """The number of executors and the cores of each; with a local master, (cores, 1)."""
        if is_local(self.master):
            return self.parallelism, 1
        tasks = self._session.range(0, self.parallelism, 1, self.parallelism)
        found = tasks.mapInArrow(_executor, "directory string").collect()
        executors = len({row["directory"] for row in found})
        configured = self._session.conf.get("spark.executor.cores", None)
        return executors, cores_of_executor(self.master, configured, self.parallelism // executors)

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Do nothing: jobs cannot be named."""
        return nullcontext()

    def shared_directory(self) -> str | None:
        """None: the file system of the cluster is not known."""
        return None

    def make_directory(self, path: str) -> None:
        """Create a directory."""
        self._run(path, lambda files, where: files.create_dir(where))

    def delete(self, path: str) -> None:
        """Delete a directory if it exists."""
        self._run(path, _delete)

    def delete_on_exit(self, path: str) -> bool:
        """Return False: there is no application to end."""
        return False

    def exists(self, path: str) -> bool:
        """Whether a file or directory exists."""
        return self._run(path, _exists) == "True"

    def write_text(self, path: str, text: str) -> None:
        """Write a text file."""

        def write(files: pa.fs.FileSystem, where: str) -> None:
            with files.open_output_stream(where) as stream:
                stream.write(text.encode())

        self._run(path, write)

    def _run(self, path: str, work: Callable[[pa.fs.FileSystem, str], object]) -> str:
        """Call `work` with a file system and a path in a task, and return its result as text."""

        def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for _ in batches:
                yield pa.RecordBatch.from_pydict({"result": [str(work(*file_system(path)))]})

        (row,) = self._session.range(0, 1, 1, 1).mapInArrow(task, "result string").collect()
        return str(row["result"])


def cores_of_executor(master: str, configured: str | None, share: int) -> int:
    """The cores of an executor: as configured, else Spark's default for the master.

    `share` is the number of tasks that run at a time, divided by the executors.
    """
    if configured is not None:
        return int(configured)
    if master.startswith("local-cluster"):
        return int(master.removesuffix("]").split(",")[1])
    return 1 if master.startswith(("yarn", "k8s")) else max(1, share)


def free_memory(session: SparkSession, tasks: int) -> int:
    """The free memory of the worker that has the least."""
    free = session.range(0, tasks, 1, tasks).mapInArrow(_free_memory, "bytes bigint")
    try:
        return min(int(row["bytes"]) for row in free.collect())
    except PySparkException as error:
        check_installed(error)
        raise


def check_installed(error: PySparkException) -> None:
    """Raise MissingExtraError if a stage failed because its workers cannot import hopvec."""
    if MISSING in str(error):
        raise MissingExtraError(
            "hopvec is not installed in the Python of Spark's workers. Install it there, or start "
            "the session with spark.pyspark.python, or the environment variable PYSPARK_PYTHON, "
            f"set to a Python that has it. On this machine it is {sys.executable}."
        ) from error


def _free_memory(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"bytes": [available_memory()]})


def _executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        time.sleep(PROBE_SECONDS)
        yield pa.RecordBatch.from_pydict({"directory": [os.environ["SPARK_LOCAL_DIRS"]]})


def _exists(files: pa.fs.FileSystem, path: str) -> bool:
    return bool(files.get_file_info(path).type != pa.fs.FileType.NotFound)


def _delete(files: pa.fs.FileSystem, path: str) -> None:
    if _exists(files, path):
        files.delete_dir(path)
