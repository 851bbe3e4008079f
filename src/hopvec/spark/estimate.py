"""What a run on Spark will take, and which strategy suits it, before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS
from hopvec.errors import MemoryLimitError, ParameterError
from hopvec.graph.columns import ColumnSpec
from hopvec.machine import available_memory, in_words, memory_limit
from hopvec.methods import FastRP
from hopvec.spark.edges import Edges, key
from hopvec.spark.features import feature_table

Strategy = Literal["columns", "blocks"]
STRATEGIES = ("auto", "columns", "blocks")

# What a core does, rounded for the worse: from the stages that benchmarks/spark.py measures.
START = 15.0  # seconds until Spark's code is compiled and Python processes have begun
GATHER = 10e-9  # seconds for a line of 64 bytes from memory that no cache holds
INGEST = 10e-6  # seconds for an entry, from the DataFrame to cells
SHUFFLE = 60e6  # bytes a second through Arrow, Spark and the disk
WRITE = 10e6  # bytes of vectors a second, from rows of slabs to Parquet
NETWORK = 1e9  # bytes a second of a worker
MOST_BLOCKS = 1024


@dataclass(frozen=True)
class Cluster:
    """The workers of a cluster, all alike."""

    workers: int
    cores: int
    """Of a worker."""
    memory: int
    """Bytes of a worker that hopvec may use."""
    price: float | None = None
    """Of a worker an hour."""

    @classmethod
    def of(cls, session: SparkSession, memory: int | None = None) -> Cluster:
        """The executors of a session as they are now; without `memory`, what they say is free."""
        context = session.sparkContext
        workers = context._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver is one too
        cores = context.defaultParallelism // max(1, workers)
        if workers == 0:  # one machine: every core works for itself
            workers, cores = cores, 1
            memory = memory or available_memory() // workers
        if memory is None:
            tasks = session.range(0, workers * cores, 1, workers * cores)
            free = tasks.mapInArrow(_free_memory, "bytes bigint")
            memory = min(row["bytes"] for row in free.collect())
        return cls(workers, cores, memory)


@dataclass(frozen=True)
class SparkEstimate:
    """What a run will take. Print it to read it."""

    strategy: Strategy
    reason: str
    """Why this strategy."""
    blocks: int
    """Blocks of rows, and of columns; 1 for "columns"."""
    nodes: int
    entries: int
    """The entries of S: an undirected edge stands for two."""
    cluster: Cluster
    worker_bytes: int
    """The memory of a worker."""
    shuffled_bytes: int
    """All that goes from worker to worker, or from the spill directory to workers."""
    spill_bytes: int
    """The tables in the spill directory."""
    seconds: float

    @property
    def cost(self) -> float | None:
        """What the workers cost for that time, where their price is known."""
        price = self.cluster.price
        return None if price is None else price * self.cluster.workers * self.seconds / 3600

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", at a cost of {self.cost:,.2f}"
        cluster = self.cluster
        return (
            f"strategy {self.strategy!r}: {self.reason}\n"
            f"{self.nodes:,} nodes, {self.entries:,} entries; {cluster.workers} workers of "
            f"{cluster.cores} cores and {in_words(cluster.memory)}\n"
            f"{in_words(self.worker_bytes)} of memory a worker, {in_words(self.shuffled_bytes)} "
            f"shuffled or fetched, {in_words(self.spill_bytes)} in the spill directory\n"
            f"about {_duration(self.seconds)}, within a factor of three{cost}"
        )


def estimate(
    edges: DataFrame,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    unweighted: bool = False,
    directed: bool = False,
    nodes: DataFrame | None = None,
    features: DataFrame | None = None,
    features_id: str | None = None,
    method: FastRP | None = None,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
    cluster: Cluster | None = None,
) -> SparkEstimate:
    """What `embed` with these arguments will take, on this session's cluster or on another.

    Goes through the edges once, and through features that have lists, and counts the nodes to
    about 2 %; edges count as if none repeated another. `method.memory` bounds the memory of a
    worker. The time is that of workers which do nothing else, in a session that has just begun.
    """
    method = FastRP() if method is None else method
    check_method(method, strategy, features is not None)
    spec = ColumnSpec(source, target, weight, unweighted)
    checked = Edges.of(edges, spec, directed=directed, nodes=nodes)
    known = feature_table(features, features_id, checked.ids)
    ids = checked.frame.select(F.explode(F.array("source", "target")).alias("id"))
    ids = ids if checked.nodes is None else ids.unionAll(checked.nodes)
    session = edges.sparkSession
    counted = ids.agg(F.approx_count_distinct(key("id"), 0.02), F.count(F.lit(1))).first()
    count = checked.frame.count() if checked.nodes is not None else counted[1] // 2
    memory = memory_limit(method.memory)
    return plan_run(
        int(counted[0]),
        int(count) * (1 if directed else 2),
        method,
        cluster or Cluster.of(session, memory),
        weighted=checked.weighted,
        features=known.columns if known else 0,
        strategy=strategy,
    )


def plan_run(
    nodes: int,
    entries: int,
    method: FastRP,
    cluster: Cluster,
    *,
    weighted: bool = False,
    features: int = 0,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
) -> SparkEstimate:
    """What a run on a graph of this size will take; raises MemoryLimitError if nothing fits.

    `features` is the number of their columns.
    """
    size = Size(nodes, entries, weighted, method, cluster, features)
    needed, free = in_words(size.columns_bytes()), in_words(cluster.memory)
    if strategy == "columns":
        return size.columns("it was asked for")
    if strategy == "blocks":
        return size.blocks("it was asked for")
    if size.columns_bytes() <= cluster.memory:
        return size.columns(f"a worker can hold the graph and a slab, {needed} of its {free}")
    return size.blocks(f"the graph and a slab take {needed}, and a worker has {free}")


@dataclass(frozen=True)
class Size:
    """The size of a run, and the formulas of what each strategy takes for it."""

    nodes: int
    entries: int
    weighted: bool
    method: FastRP
    cluster: Cluster
    features: int = 0
    """Columns of features."""

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method.width // SLAB_COLUMNS[self.method.precision])

    @property
    def entry_bytes(self) -> int:
        """The bytes of all entries: a neighbor, and its weight if there are any."""
        return self.entries * (8 if self.weighted else 4)

    @property
    def graph_bytes(self) -> int:
        """The bytes that a worker fetches: entries, and a count, a key and features a node."""
        return self.entry_bytes + 12 * self.nodes + self.feature_bytes

    @property
    def feature_bytes(self) -> int:
        """The bytes of all features, numbers in float64."""
        return 8 * self.features * self.nodes

    @property
    def vector_bytes(self) -> int:
        """The bytes of all columns, in whole slabs."""
        return 4 * self.nodes * self.slabs * SLAB_COLUMNS[self.method.precision]

    @property
    def orders(self) -> int:
        """The orders whose rows are made unit, 0 if none are."""
        unit = self.method.finish.normalization.unit_orders
        return len(self.method.order_weights()) if unit else 0

    def columns_bytes(self) -> int:
        """The memory of a worker: the graph, and one slab at a time."""
        slab = 2 * CACHE_LINE_BYTES + 4 * SLAB_COLUMNS[self.method.precision] + 12 * self.orders
        return self.graph_bytes + self.nodes * (32 + slab)

    def columns_shuffle(self) -> int:
        """The graph to every worker, slabs to rows; and norms to nodes, scales to every worker.

        Features are joined with nodes and then packed by chunks before.
        """
        workers = self.cluster.workers
        norms = self.orders * self.nodes * (8 * self.slabs + 4 * workers)
        packed = 2 * self.feature_bytes
        return workers * self.graph_bytes + self.vector_bytes + norms + packed

    def columns(self, reason: str) -> SparkEstimate:
        """A run by columns."""
        passes = 2 if self.orders else 1
        rounds = -(-self.slabs // self.cluster.workers)
        compute = passes * rounds * self._hop_seconds() * self.hops
        squares = 8 * self.orders * self.nodes * self.slabs
        spill_dir = self.graph_bytes + 2 * self.vector_bytes + squares
        return self._estimate(
            "columns", reason, 1, self.columns_bytes(), self.columns_shuffle(), spill_dir, compute
        )

    @property
    def hops(self) -> int:
        """The number of hops."""
        return max(self.method.order_weights())

    def blocks_bytes(self, blocks: int) -> int:
        """The memory of a worker: a block of rows before and after a hop, and its cells."""
        return (
            2 * CACHE_LINE_BYTES + 32
        ) * self.nodes // blocks + 2 * self.entry_bytes // blocks**2

    def hop_shuffle(self, blocks: int) -> int:
        """The rows of an order to every block of rows, and the cells to every slab."""
        return blocks * self.vector_bytes + self.slabs * (
            self.entry_bytes + 4 * self.nodes * blocks
        )

    def blocks(self, reason: str) -> SparkEstimate:
        """A run by blocks, as few of them as fit."""
        for blocks in range(2, MOST_BLOCKS + 1):
            if self.blocks_bytes(blocks) <= self.cluster.memory:
                break
        else:
            raise MemoryLimitError(
                f"embed: even {MOST_BLOCKS:,} blocks need {in_words(self.blocks_bytes(blocks))} "
                f"of memory a worker, and it has {in_words(self.cluster.memory)}."
            )
        counted = len(self.method.order_weights())
        shuffle = self.hops * self.hop_shuffle(blocks) + counted * self.vector_bytes
        shuffle += (3 if 0 in self.method.order_weights() else 2) * self.feature_bytes
        rounds = -(-self.slabs * blocks // self.cluster.workers) / blocks
        compute = rounds * self._hop_seconds() * self.hops
        spill_dir = self.graph_bytes + (counted + 2) * self.vector_bytes
        return self._estimate(
            "blocks", reason, blocks, self.blocks_bytes(blocks), shuffle, spill_dir, compute
        )

    def _hop_seconds(self) -> float:
        """The time of a worker for one slab and one hop."""
        return self.entries * GATHER / self.cluster.cores

    def _estimate(
        self,
        strategy: Strategy,
        reason: str,
        blocks: int,
        worker: int,
        shuffle: int,
        spill_dir: int,
        compute: float,
    ) -> SparkEstimate:
        cluster = self.cluster
        cores = cluster.workers * cluster.cores
        ingest = START + self.entries * INGEST / cores
        written = self.vector_bytes / (cores * WRITE)
        moved = shuffle / min(cores * SHUFFLE, cluster.workers * NETWORK)
        return SparkEstimate(
            strategy=strategy,
            reason=reason,
            blocks=blocks,
            nodes=self.nodes,
            entries=self.entries,
            cluster=cluster,
            worker_bytes=worker,
            shuffled_bytes=shuffle,
            spill_bytes=spill_dir,
            seconds=ingest + moved + compute + written,
        )


def check_method(method: object, strategy: str, has_features: bool) -> None:
    """Refuses what Spark cannot carry."""
    if strategy not in STRATEGIES:
        allowed = ", ".join(map(repr, STRATEGIES))
        raise ParameterError(f"embed: strategy must be one of {allowed}, got {strategy!r}.")
    if not isinstance(method, FastRP):
        raise ParameterError(f"embed: on Spark the method must be FastRP, got {method!r}.")
    method.check()
    if method.oversample > 1:
        raise ParameterError(
            "FastRP: oversample on Spark is not supported yet: products of columns are added node "
            f"after node. Set oversample=1, got {method.oversample}."
        )
    if method.direction != "out":
        raise ParameterError(
            "FastRP: direction on Spark is 'out' so far: exchange source and target for 'in', read "
            f"the edges as undirected for 'both', got {method.direction!r}."
        )
    method.check_feature_weight(has_features)
    if method.threads is not None:
        raise ParameterError(
            "FastRP: on Spark the threads are those of its tasks. Leave threads out, got "
            f"{method.threads}."
        )
    if strategy == "blocks" and method.precision == "float16":
        raise ParameterError("FastRP: precision='float16' needs the strategy 'columns' on Spark.")


def _free_memory(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"bytes": [available_memory()]})


def _duration(seconds: float) -> str:
    """A time in words, such as '25 min' or '3.5 h'."""
    minutes = seconds / 60
    return (
        f"{seconds:.2g} s"
        if minutes < 1
        else f"{minutes:.2g} min"
        if minutes < 60
        else (f"{minutes / 60:.2g} h")
    )
