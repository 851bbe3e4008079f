"""The memory, data volume and time of a run on Spark, and the choice of its strategy."""

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
from hopvec.machine import available_memory, format_bytes, memory_limit
from hopvec.methods import FastRP
from hopvec.spark.edges import EdgeFrame, key
from hopvec.spark.features import feature_table

Strategy = Literal["columns", "blocks"]
STRATEGIES = ("auto", "columns", "blocks")
ON_SPARK = {"passes": 1, "oversample": 1, "degree_weight": 0}
"""The only values that are supported on Spark."""

# Per core unless stated otherwise, rounded up from the stages that benchmarks/spark.py measures.
STARTUP_SECONDS = 15.0  # until Spark has compiled its code and started Python
GATHER_SECONDS = 10e-9  # per cache line read from main memory
INGEST_SECONDS = 10e-6  # per entry, from the DataFrame to cells
SHUFFLE_RATE = 60e6  # bytes per second through Arrow, Spark and the disk
WRITE_RATE = 10e6  # bytes of vectors per second, from slabs to Parquet
NETWORK_RATE = 1e9  # bytes per second and worker
MAX_BLOCKS = 1024


@dataclass(frozen=True)
class Cluster:
    """A cluster of identical workers.

    Parameters
    ----------
    workers : int
        The number of workers.
    cores : int
        The number of cores per worker.
    memory : int
        The bytes per worker that hopvec may use.
    price : float, optional
        The price of a worker per hour, in any currency.

    Examples
    --------
    >>> from hopvec.spark import Cluster
    >>> Cluster(workers=4, cores=8, memory=32 * 2**30, price=0.5)
    Cluster(workers=4, cores=8, memory=34359738368, price=0.5)
    """

    workers: int
    cores: int
    memory: int
    price: float | None = None

    @classmethod
    def from_session(cls, session: SparkSession, memory: int | None = None) -> Cluster:
        """Describe the current executors of a session.

        Parameters
        ----------
        session : SparkSession
            The session.
        memory : int, optional
            The bytes per worker that hopvec may use; by default what is free on them.

        Returns
        -------
        Cluster
            The workers, their cores and their memory.

        Examples
        --------
        >>> from hopvec.spark import Cluster  # doctest: +SKIP
        >>> Cluster.from_session(session)  # doctest: +SKIP
        """
        context = session.sparkContext
        workers = context._jsc.sc().getExecutorMemoryStatus().size() - 1  # it includes the driver
        cores = context.defaultParallelism // max(1, workers)
        if workers == 0:  # local master: every core is a worker
            workers, cores = cores, 1
            memory = memory or available_memory() // workers
        if memory is None:
            tasks = session.range(0, workers * cores, 1, workers * cores)
            free = tasks.mapInArrow(_free_memory, "bytes bigint")
            memory = min(row["bytes"] for row in free.collect())
        return cls(workers, cores, memory)


@dataclass(frozen=True)
class SparkEstimate:
    """The estimate of a run on Spark; `str` gives a summary.

    Attributes
    ----------
    strategy : {"columns", "blocks"}
        The chosen strategy.
    reason : str
        Why it was chosen.
    blocks : int
        The number of blocks of rows, and of columns; 1 for "columns".
    nodes : int
        The number of nodes.
    entries : int
        The number of entries of S; an undirected edge has two.
    cluster : Cluster
        The cluster of the run.
    worker_bytes : int
        The memory per worker.
    shuffled_bytes : int
        All data sent between workers, or from the spill directory to workers.
    spill_bytes : int
        The size of the tables in the spill directory.
    seconds : float
        The time of the run.

    Examples
    --------
    >>> from hopvec import spark  # doctest: +SKIP
    >>> spark.estimate(edges).strategy  # doctest: +SKIP
    'columns'
    """

    strategy: Strategy
    reason: str
    blocks: int
    nodes: int
    entries: int
    cluster: Cluster
    worker_bytes: int
    shuffled_bytes: int
    spill_bytes: int
    seconds: float

    @property
    def cost(self) -> float | None:
        """The cost of the workers for that time; None if their price is unknown."""
        price = self.cluster.price
        return None if price is None else price * self.cluster.workers * self.seconds / 3600

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", at a cost of {self.cost:,.2f}"
        cluster = self.cluster
        return (
            f"strategy {self.strategy!r}: {self.reason}\n"
            f"{self.nodes:,} nodes, {self.entries:,} entries; {cluster.workers} workers of "
            f"{cluster.cores} cores and {format_bytes(cluster.memory)}\n"
            f"{format_bytes(self.worker_bytes)} of memory per worker, "
            f"{format_bytes(self.shuffled_bytes)} shuffled or fetched, "
            f"{format_bytes(self.spill_bytes)} in the spill directory\n"
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
    """Estimate what `embed` with the same arguments needs, before running it.

    Reads the edges once, and features once if they have lists. The number of nodes is exact to
    about 2 %; duplicate edges are counted as distinct. The time assumes idle workers and a new
    session.

    Parameters
    ----------
    edges : DataFrame
        The edges, with integers or strings as ids.
    source, target, weight : str, optional
        The columns of `edges`, as in `embed`.
    unweighted : bool
        Ignore a column of weights.
    directed : bool
        Follow edges from source to target only.
    nodes : DataFrame, optional
        Ids of additional nodes, which may have no edges.
    features : DataFrame, optional
        Features of nodes, matched by id.
    features_id : str, optional
        The id column of `features`, as in `embed`.
    method : FastRP, optional
        The method, as in `embed`. `method.memory` limits the memory per worker.
    strategy : {"auto", "columns", "blocks"}
        The strategy, as in `embed`.
    cluster : Cluster, optional
        The cluster to estimate for. The default is that of the session.

    Returns
    -------
    SparkEstimate
        Strategy, memory, data volume, time and cost.

    Raises
    ------
    GraphError
        If `edges`, `nodes` or `features` are invalid.
    FormatError
        If columns are missing or ambiguous.
    ParameterError
        If the parameters of the method are invalid, or not supported on Spark.
    MemoryLimitError
        If no strategy fits into the memory of a worker.

    Examples
    --------
    >>> from hopvec import FastRP, spark  # doctest: +SKIP
    >>> print(spark.estimate(edges, method=FastRP(dim=128, passes=1)))  # doctest: +SKIP
    """
    method = FastRP(passes=1) if method is None else method
    check_method(method, strategy, features is not None)
    spec = ColumnSpec(source, target, weight, unweighted)
    edge_frame = EdgeFrame.from_frame(edges, spec, directed=directed, nodes=nodes)
    feature_columns = feature_table(features, features_id, edge_frame.ids)
    ids = edge_frame.frame.select(F.explode(F.array("source", "target")).alias("id"))
    ids = ids if edge_frame.nodes is None else ids.unionAll(edge_frame.nodes)
    session = edges.sparkSession
    counted = ids.agg(F.approx_count_distinct(key("id"), 0.02), F.count(F.lit(1))).first()
    count = edge_frame.frame.count() if edge_frame.nodes is not None else counted[1] // 2
    memory = memory_limit(method.memory)
    return plan_run(
        int(counted[0]),
        int(count) * (1 if directed else 2),
        method,
        cluster or Cluster.from_session(session, memory),
        weighted=edge_frame.weighted,
        features=feature_columns.columns if feature_columns else 0,
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
    """Estimate a run from the size of its graph; raises MemoryLimitError if nothing fits.

    `features` is the number of feature columns.
    """
    size = RunSize(nodes, entries, weighted, method, cluster, features)
    needed, free = format_bytes(size.columns_bytes()), format_bytes(cluster.memory)
    if strategy == "columns":
        return size.estimate_columns("it was requested")
    if strategy == "blocks":
        return size.estimate_blocks("it was requested")
    if size.columns_bytes() <= cluster.memory:
        return size.estimate_columns(
            f"a worker can hold the graph and a slab, {needed} of its {free}"
        )
    return size.estimate_blocks(f"the graph and a slab take {needed}, and a worker has {free}")


@dataclass(frozen=True)
class RunSize:
    """The size of a run, and the formulas for the cost of each strategy."""

    nodes: int
    entries: int
    weighted: bool
    method: FastRP
    cluster: Cluster
    features: int = 0
    """The number of feature columns."""

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method._width // SLAB_COLUMNS[self.method.precision])

    @property
    def entry_bytes(self) -> int:
        """The bytes of all entries: a neighbor each, and its weight if the graph is weighted."""
        return self.entries * (8 if self.weighted else 4)

    @property
    def graph_bytes(self) -> int:
        """The bytes that a worker fetches: entries, and count, key and features per node."""
        return self.entry_bytes + 12 * self.nodes + self.feature_bytes

    @property
    def feature_bytes(self) -> int:
        """The bytes of all features, 8 per value."""
        return 8 * self.features * self.nodes

    @property
    def vector_bytes(self) -> int:
        """The bytes of all columns, in whole slabs."""
        return 4 * self.nodes * self.slabs * SLAB_COLUMNS[self.method.precision]

    @property
    def orders(self) -> int:
        """The number of orders whose rows are normalized to unit length, possibly 0."""
        unit = self.method._finish.normalization.unit_orders
        return len(self.method._order_weights()) if unit else 0

    def columns_bytes(self) -> int:
        """The memory of a worker with "columns": the graph, and one slab at a time."""
        slab = 2 * CACHE_LINE_BYTES + 4 * SLAB_COLUMNS[self.method.precision] + 12 * self.orders
        return self.graph_bytes + self.nodes * (32 + slab)

    def columns_shuffle(self) -> int:
        """The bytes fetched or shuffled with "columns".

        The graph goes to every worker, slabs to the tasks that make vectors, norms to nodes and
        scales to every worker. Before that, features are joined with nodes and packed by chunks.
        """
        workers = self.cluster.workers
        norms = self.orders * self.nodes * (8 * self.slabs + 4 * workers)
        packed = 2 * self.feature_bytes
        return workers * self.graph_bytes + self.vector_bytes + norms + packed

    def estimate_columns(self, reason: str) -> SparkEstimate:
        """The estimate for "columns"."""
        passes = 2 if self.orders else 1
        rounds = -(-self.slabs // self.cluster.workers)
        compute = passes * rounds * self._hop_seconds() * self.hops
        squares = 8 * self.orders * self.nodes * self.slabs
        spill = self.graph_bytes + 2 * self.vector_bytes + squares
        return self._estimate(
            "columns", reason, 1, self.columns_bytes(), self.columns_shuffle(), spill, compute
        )

    @property
    def hops(self) -> int:
        """The number of hops."""
        return max(self.method._order_weights())

    def blocks_bytes(self, blocks: int) -> int:
        """The memory of a worker with "blocks": a block before and after a hop, and its cells."""
        rows = (2 * CACHE_LINE_BYTES + 32) * self.nodes // blocks
        return rows + 2 * self.entry_bytes // blocks**2

    def hop_shuffle(self, blocks: int) -> int:
        """The bytes shuffled per hop: all rows to every block of rows, all cells to every slab."""
        cells = self.entry_bytes + 4 * self.nodes * blocks
        return blocks * self.vector_bytes + self.slabs * cells

    def estimate_blocks(self, reason: str) -> SparkEstimate:
        """The estimate for "blocks", with the fewest blocks that fit."""
        for blocks in range(2, MAX_BLOCKS + 1):
            if self.blocks_bytes(blocks) <= self.cluster.memory:
                break
        else:
            raise MemoryLimitError(
                f"embed: even {MAX_BLOCKS:,} blocks need {format_bytes(self.blocks_bytes(blocks))} "
                f"of memory per worker, and a worker has {format_bytes(self.cluster.memory)}."
            )
        orders = len(self.method._order_weights())
        shuffle = self.hops * self.hop_shuffle(blocks) + orders * self.vector_bytes
        shuffle += (3 if 0 in self.method._order_weights() else 2) * self.feature_bytes
        rounds = -(-self.slabs * blocks // self.cluster.workers) / blocks
        compute = rounds * self._hop_seconds() * self.hops
        spill = self.graph_bytes + (orders + 2) * self.vector_bytes
        return self._estimate(
            "blocks", reason, blocks, self.blocks_bytes(blocks), shuffle, spill, compute
        )

    def _hop_seconds(self) -> float:
        """The time of a worker for one hop of one slab."""
        return self.entries * GATHER_SECONDS / self.cluster.cores

    def _estimate(
        self,
        strategy: Strategy,
        reason: str,
        blocks: int,
        worker: int,
        shuffle: int,
        spill: int,
        compute: float,
    ) -> SparkEstimate:
        cluster = self.cluster
        cores = cluster.workers * cluster.cores
        ingest = STARTUP_SECONDS + self.entries * INGEST_SECONDS / cores
        written = self.vector_bytes / (cores * WRITE_RATE)
        moved = shuffle / min(cores * SHUFFLE_RATE, cluster.workers * NETWORK_RATE)
        return SparkEstimate(
            strategy=strategy,
            reason=reason,
            blocks=blocks,
            nodes=self.nodes,
            entries=self.entries,
            cluster=cluster,
            worker_bytes=worker,
            shuffled_bytes=shuffle,
            spill_bytes=spill,
            seconds=ingest + moved + compute + written,
        )


def check_method(method: object, strategy: str, has_features: bool) -> None:
    """Raise ParameterError for parameters that are invalid or not supported on Spark."""
    if strategy not in STRATEGIES:
        allowed = ", ".join(map(repr, STRATEGIES))
        raise ParameterError(f"embed: strategy must be one of {allowed}, got {strategy!r}.")
    if not isinstance(method, FastRP):
        raise ParameterError(f"embed: only FastRP is supported on Spark, got {method!r}.")
    method._check()
    for name, supported in ON_SPARK.items():
        if getattr(method, name) != supported:
            raise ParameterError(
                f"FastRP: {name}={getattr(method, name):g} is not supported on Spark. Set "
                f"{name}={supported}."
            )
    if method.relations != "merge":
        raise ParameterError("FastRP: relations='concat' is not supported on Spark.")
    if method.direction != "out":
        raise ParameterError(
            f"FastRP: only direction='out' is supported on Spark, got {method.direction!r}. Swap "
            "source= and target= for 'in', or read the edges as undirected for 'both'."
        )
    method._check_feature_weight(has_features)
    if method.threads is not None:
        raise ParameterError(
            f"FastRP: Spark determines the number of threads, got threads={method.threads}. Leave "
            "threads= out."
        )
    if strategy == "blocks" and method.precision == "float16":
        raise ParameterError("FastRP: precision='float16' needs strategy='columns' on Spark.")


def _free_memory(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"bytes": [available_memory()]})


def _duration(seconds: float) -> str:
    """A rounded duration, such as '25 min' or '3.5 h'."""
    minutes = seconds / 60
    if minutes < 1:
        return f"{seconds:.2g} s"
    return f"{minutes:.2g} min" if minutes < 60 else f"{minutes / 60:.2g} h"
