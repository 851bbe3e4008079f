"""hopvec on Spark on one machine: python -m benchmarks.spark.

5 million edges with strings as ids, 200,000 nodes, dim 128, from Parquet to Parquet with each
strategy: wall and CPU seconds, and shuffled bytes, of every stage. CPU time is that of Spark and
all its Python processes. The CPU time of hopvec without Spark is measured for comparison.

50 million edges on two executor processes, with the peak memory of each:

    python -m benchmarks.spark --edges 50000000 --nodes 2000000 --executors 2 --name spark_large
"""

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import machine
from benchmarks.processes import RESULTS, log
from hopvec.spark.tables import Tables

NODES, EDGES, DIM = 200_000, 5_000_000, 128
HEAP_MB = 2048  # of an executor
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--strategies", default="columns,blocks", help="separated by commas")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--executors", type=int, help="executor processes, instead of one JVM")
    parser.add_argument("--name", default="spark", help="the file of the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopvec-spark-") as directory:
        edges = Path(directory, "edges")
        write_edges(edges, options.edges, options.nodes)
        found: dict[str, Any] = {
            "machine": machine.describe(),
            "nodes": options.nodes,
            "edges": options.edges,
            "dim": DIM,
            "executors": options.executors,
            "one_machine": one_machine(edges),
            "spark": {},
        }
        for strategy in options.strategies.split(","):
            found["spark"][strategy] = on_spark(edges, strategy, options.executors)
            (RESULTS / f"{options.name}.json").write_text(json.dumps(found, indent=2) + "\n")


def write_edges(directory: Path, count: int, nodes: int) -> None:
    """Write edges with power-law degrees and ids such as 'host-123456.example' to eight files."""
    directory.mkdir()
    rng = np.random.default_rng(7)
    ids = np.array([f"host-{number}.example" for number in range(nodes)])
    for part in range(8):
        ends = (nodes * rng.random((2, count // 8)) ** [[2], [3]]).astype(np.int64)
        table = pa.table({"src": ids[ends[0]], "dst": ids[ends[1]]})
        pq.write_table(table, directory / f"part-{part}.parquet")


def one_machine(edges: Path) -> dict[str, Any]:
    """CPU seconds without Spark, of reading and of the embedding."""
    from hopvec import FastRP, read_graph

    start = time.process_time()
    graph = read_graph(edges)
    read = time.process_time() - start
    wall, start = time.perf_counter(), time.process_time()
    FastRP(dim=DIM, passes=1, seed=7).embed(graph)
    return {
        "entries": graph.entries,
        "read_cpu_seconds": read,
        "embed_cpu_seconds": time.process_time() - start,
        "embed_seconds": time.perf_counter() - wall,
    }


def on_spark(edges: Path, strategy: str, executors: int | None = None) -> dict[str, Any]:
    """Wall and CPU seconds, and shuffled bytes, of every stage in a new session."""
    from pyspark.sql import SparkSession

    from hopvec import FastRP
    from hopvec.spark import embed, estimate

    log(strategy)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    master = f"local-cluster[{executors},1,{HEAP_MB}]" if executors else f"local[{machine.cores()}]"
    builder = SparkSession.builder.master(master).config("spark.sql.shuffle.partitions", 8)
    builder = builder.config("spark.driver.memory", "2g" if executors else "4g")
    if executors:
        builder = builder.config("spark.executor.memory", f"{HEAP_MB}m")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(str(edges))
    method = FastRP(dim=DIM, passes=1, seed=7, memory=None if strategy == "columns" else "20MB")
    expected = estimate(frame, method=method, strategy=strategy)
    output = edges.with_name("vectors")
    memory = ExecutorMemory()
    with Stages() as stages, memory:
        embed(frame, method=method, strategy=strategy, output=str(output))
    shutil.rmtree(output)
    result = {
        "blocks": expected.blocks,
        "expected_seconds": expected.seconds,
        "expected_shuffled_bytes": expected.shuffled_bytes,
        "stages": stages.found,
        "shuffled_bytes": shuffled(session),
        "executor_peak_bytes": memory.peaks,
    }
    if strategy == "columns" and not executors:
        with Stages() as stages, without_writing():
            embed(frame, method=method, strategy=strategy)
        result["stages_when_warm"] = stages.found
    session.stop()
    return result


@contextmanager
def without_writing() -> Iterator[None]:
    """Compute vectors without writing them, to exclude the time of writing Parquet."""
    write = Tables.write

    def write_or_not(tables: Tables, name: str, frame: Any, **options: Any) -> Any:
        if name != "vectors":
            return write(tables, name, frame, **options)
        writer = frame.write.format("noop").mode("overwrite")
        tables.run(options["stage"], writer.save)
        return frame

    Tables.write = write_or_not  # type: ignore[method-assign]
    try:
        yield
    finally:
        Tables.write = write  # type: ignore[method-assign]


class Stages(logging.Handler):
    """Wall and CPU seconds of each stage, measured when its end is logged."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.found: dict[str, dict[str, float]] = {}
        self._wall, self._cpu = time.perf_counter(), cpu_seconds(os.getpid())

    def __enter__(self) -> Self:
        logging.getLogger("hopvec").addHandler(self)
        logging.getLogger("hopvec").setLevel(logging.INFO)
        return self

    def __exit__(self, *error: object) -> None:
        logging.getLogger("hopvec").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Record the time of the stage that has ended."""
        name = str(record.args[0]) if record.args else ""
        if record.msg != "%s: %.1f s":
            return
        wall, cpu = time.perf_counter(), cpu_seconds(os.getpid())
        stage = self.found.setdefault(name, {"seconds": 0.0, "cpu_seconds": 0.0})
        stage["seconds"] += wall - self._wall
        stage["cpu_seconds"] += cpu - self._cpu
        self._wall, self._cpu = wall, cpu
        log(f"  {name}: {stage['seconds']:.1f} s, {stage['cpu_seconds']:.1f} s of CPU")


class ExecutorMemory:
    """The peak memory of each executor: the proportional size of its JVM and Python processes."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {}
        self._stop = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            for executor in descendants(os.getpid()):
                try:
                    command = Path(f"/proc/{executor}/cmdline").read_bytes()
                    if b"CoarseGrainedExecutorBackend" not in command:
                        continue
                    size = sum(map(proportional_bytes, [executor, *descendants(executor)]))
                except OSError:
                    continue
                name = str(executor)
                self.peaks[name] = max(size, self.peaks.get(name, 0))


def proportional_bytes(process: int) -> int:
    """The memory of a process, where a page that several processes map counts in parts."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return 1024 * int(line.split()[1])
    return 0


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    children: dict[int, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(directory.name))
    found = list(children.get(process, []))
    for child in found:
        found += children.get(child, [])
    return found


def cpu_seconds(process: int) -> float:
    """CPU seconds of a process and all its descendants."""
    own, children = 0, []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(directory.name) == process:
            own = sum(map(int, fields[11:15]))
        elif int(fields[1]) == process:
            children.append(int(directory.name))
    return own / TICKS + sum(map(cpu_seconds, children))


def shuffled(session: Any) -> dict[str, int]:
    """Shuffled bytes by stage of hopvec."""
    time.sleep(2)  # the status store is updated a moment after the end of a stage
    gateway = session.sparkContext._gateway
    empty = gateway.new_array(gateway.jvm.double, 0), gateway.jvm.java.util.ArrayList()
    store = session.sparkContext._jsc.sc().statusStore()
    stages = store.stageList(gateway.jvm.java.util.ArrayList(), False, False, *empty)
    found: dict[str, int] = {}
    for at in range(stages.size()):
        stage = stages.apply(at)
        if stage.description().isDefined() and stage.shuffleWriteBytes():
            name = stage.description().get().removeprefix("hopvec: ")
            found[name] = found.get(name, 0) + stage.shuffleWriteBytes()
    return found


if __name__ == "__main__":
    main()
