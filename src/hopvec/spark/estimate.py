"""The memory, data volume and time of a run on Spark, and the choice of its strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS
from hopvec.engine.principal import PART_ROWS
from hopvec.errors import MemoryLimitError
from hopvec.graph.age_weights import TimeOptions
from hopvec.graph.columns import ColumnSpec
from hopvec.graph.relation_options import RelationOptions
from hopvec.machine import format_bytes, memory_limit
from hopvec.methods import FastRP
from hopvec.methods.direction import DIRECTIONS, TRANSPOSED_NODE_BYTES, check_direction
from hopvec.methods.relations import no_relations_error
from hopvec.spark.cluster import Cluster
from hopvec.spark.edges import EdgeFrame, key
from hopvec.spark.features import feature_table
from hopvec.spark.node_blocks import CHUNK_NODES
from hopvec.spark.parameters import check_method
from hopvec.spark.products import products_bytes
from hopvec.spark.relations import check_relations

Strategy = Literal["columns", "blocks"]

# Per core unless stated otherwise, rounded up from the stages that benchmarks/spark.py measures.
STARTUP_SECONDS = 15.0  # until Spark has compiled its code and started Python
GATHER_SECONDS = 10e-9  # per cache line read from main memory
PRODUCT_SECONDS = 0.2e-9  # per product of two entries, for Gram matrices and projections
INGEST_SECONDS = 2.5e-6  # per entry, from the DataFrame to cells
SHUFFLE_RATE = 60e6  # bytes per second through Arrow, Spark and the disk
WRITE_RATE = 10e6  # bytes of vectors per second, from slabs to Parquet
NETWORK_RATE = 1e9  # bytes per second and worker
MAX_BLOCKS = 1024
READ_BYTES = 128 << 20  # of a table per task: Spark's default


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
        cost = (
            "" if self.cost is None else f", at a cost of {self.cost:,.2f} in the currency of price"
        )
        cluster = self.cluster
        return (
            f"strategy {self.strategy!r}: {self.reason}\n"
            f"{self.nodes:,} nodes, {self.entries:,} entries; {_count(cluster.workers, 'worker')} "
            f"of {_count(cluster.cores, 'core')} and {format_bytes(cluster.memory)}\n"
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
    relation: str | None = None,
    relation_weights: Mapping[str, float] | str | None = None,
    relation_balance: Literal["none", "total", "node"] = "none",
    relation_direction: Mapping[str, str] | str | None = None,
    time: str | None = None,
    half_life: str | timedelta | None = None,
    as_of: Any = None,
    since: Any = None,
    until: Any = None,
    directed: bool = False,
    nodes: DataFrame | None = None,
    node_type: str | None = None,
    features: DataFrame | None = None,
    features_id: str | None = None,
    method: FastRP | None = None,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
    cluster: Cluster | None = None,
) -> SparkEstimate:
    """Estimate what `embed` needs for the same graph and method, before running it.

    Reads the edges once, twice if there are `nodes` or relations, and features once if they have
    lists. The number of nodes is exact to about 2 %. Duplicate edges are counted as distinct, and
    edges outside the window of `since` and `until` are counted, too. The time assumes idle workers
    and a new session.

    Parameters
    ----------
    edges : DataFrame
        The edges, with integers or strings as ids.
    source, target, weight : str, optional
        The columns of `edges`, as in `embed`.
    unweighted : bool
        Ignore a column of weights.
    relation : str, optional
        The column of relations.
    relation_weights, relation_balance, relation_direction
        How relations are weighted, balanced and directed, as in `embed`.
    time : str, optional
        The column of times, which are not read.
    half_life, as_of, since, until
        Weights by age and a window of time, as in `embed`. With `half_life`, edges have weights.
    directed : bool
        Follow edges from source to target only.
    nodes : DataFrame, optional
        Ids of additional nodes, which may have no edges.
    node_type : str, optional
        The column of `nodes` with the types of nodes.
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
    >>> print(spark.estimate(edges, method=FastRP(dim=128)))  # doctest: +SKIP
    """
    method = FastRP() if method is None else method
    check_method(method, strategy, features is not None)
    spec = ColumnSpec(source, target, weight, unweighted, relation=relation, time=time)
    relations = RelationOptions.checked(
        "estimate", relation_weights, relation_balance, relation_direction
    )
    times = TimeOptions.checked("estimate", time, half_life, as_of, since, until)
    edge_frame = EdgeFrame.from_frame(
        edges, spec, directed=directed, nodes=nodes, node_type=node_type, relations=relations
    )
    if edge_frame.relations is None:
        check_direction("FastRP", directed, method.direction)
        if method.relations == "concat":
            raise no_relations_error("FastRP")
    feature_columns = feature_table(features, features_id, edge_frame.ids)
    ids = edge_frame.frame.select(F.explode(F.array("source", "target")).alias("id"))
    ids = ids if edge_frame.nodes is None else ids.unionAll(edge_frame.nodes)
    if edge_frame.relations is not None:
        entries, parts = _relation_entries(edge_frame, edge_frame.relations, method)
    counted = ids.agg(F.approx_count_distinct(key("id"), 0.02), F.count(F.lit(1))).first()
    if edge_frame.relations is None:
        count = edge_frame.frame.count() if edge_frame.nodes is not None else counted[1] // 2
        entries = int(count) * (1 if directed else 2)
        parts = Parts.of_direction(method.direction if directed else "out", entries)
    by_relation = relations.balance != "none" or {*relations.weights.values()} - {0.0, 1.0}
    memory = memory_limit(method.memory)
    return plan_run(
        int(counted[0]),
        entries,
        method,
        cluster or Cluster.from_session(edges.sparkSession, memory),
        weighted=edge_frame.weighted or times.half_life is not None or bool(by_relation),
        features=feature_columns.columns if feature_columns else 0,
        parts=parts,
        strategy=strategy,
    )


def _relation_entries(
    edges: EdgeFrame, options: RelationOptions, method: FastRP
) -> tuple[int, Parts | None]:
    """The number of entries of S of the merged graph, and the parts of the columns."""
    rows = edges.frame.where("relation <> ''").groupBy("relation").count().collect()
    counts = {row["relation"]: row["count"] for row in rows}
    kinds, directed = check_relations(counts, options, edges.directed, method)
    entries = sum(
        counts.get(kind.name, 0) * (2 if kind.direction == "both" else 1) for kind in kinds
    )
    direction = method.direction if directed else "out"
    concat = method.relations == "concat"
    return entries, Parts.of_direction(direction, entries, len(kinds) if concat else None)


def plan_run(
    nodes: int,
    entries: int,
    method: FastRP,
    cluster: Cluster,
    *,
    weighted: bool = False,
    features: int = 0,
    parts: Parts | None = None,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
) -> SparkEstimate:
    """Estimate a run from the size of its graph; raises MemoryLimitError if nothing fits.

    `features` is the number of feature columns. `parts` describes the parts of the columns; None if
    S of the merged graph is the only matrix.
    """
    size = RunSize(nodes, entries, weighted, method, cluster, features, parts)
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
class Parts:
    """The parts of the columns, which have an adjacency matrix of their own each."""

    count: int
    entries: int
    """The number of entries of all of them."""

    @classmethod
    def of_direction(
        cls, direction: str, entries: int, relations: int | None = None
    ) -> Parts | None:
        """The parts of a direction, given the entries of S; None for S itself.

        `relations` is the number of relations that have columns of their own.
        """
        if direction == "out" and relations is None:
            return None
        count = len(DIRECTIONS[direction])
        entries *= 2 if direction == "both" else count
        return cls(count * (relations or 1), entries)


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
    parts: Parts | None = None
    """The parts of the columns; None if S of the merged graph is the only matrix."""

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method._width // SLAB_COLUMNS[self.method.precision])

    @property
    def entry_bytes(self) -> int:
        """The bytes of all entries: a neighbor each, and its weight if the graph is weighted."""
        return self.entries * (8 if self.weighted else 4)

    @property
    def part_bytes(self) -> int:
        """The bytes of the entries of one part of the columns, on average."""
        if self.parts is None:
            return self.entry_bytes
        return self.parts.entries * (8 if self.weighted else 4) // self.parts.count

    @property
    def more_bytes(self) -> int:
        """The bytes of the matrices of all parts, which a worker of "columns" holds besides S."""
        if self.parts is None:
            return 0
        return self.parts.count * (self.part_bytes + TRANSPOSED_NODE_BYTES * self.nodes)

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
    def passes(self) -> int:
        """The number of passes."""
        return int(self.method.passes)

    @property
    def pass_weights(self) -> list[dict[int, float]]:
        """The nonzero weights of each pass, by order."""
        return [self.method._weights_of_pass(number) for number in range(self.passes)]

    @property
    def orders(self) -> list[int]:
        """The number of orders in each pass whose rows are normalized to unit length."""
        unit = self.method._finish.normalization.unit_orders
        return [len(weights) if unit else 0 for weights in self.pass_weights]

    @property
    def gram_sums(self) -> int:
        """How often a Gram matrix is summed over all rows: after each pass, unless there is one."""
        return self.passes if self.method._compresses else 0

    def products_shuffle(self, parts: int) -> int:
        """The bytes of a Gram matrix that is summed from parts of the rows."""
        return parts * products_bytes(self.method._width)

    @property
    def row_parts(self) -> int:
        """The number of parts of the rows with "columns"."""
        return -(-self.nodes // PART_ROWS)

    def columns_bytes(self) -> int:
        """The memory of a worker with "columns": the graph, and one slab at a time.

        Between passes, each core whitens a part of the rows instead.
        """
        columns, orders = SLAB_COLUMNS[self.method.precision], max(self.orders)
        slab = 2 * CACHE_LINE_BYTES + 4 * columns + 12 * orders
        rows = 4 * min(self.nodes, PART_ROWS) * self.slabs * columns
        whitening = self.cluster.cores * (rows + self._products_bytes()) if self.gram_sums else 0
        return self.graph_bytes + self.more_bytes + max(self.nodes * (32 + slab), whitening)

    def _products_bytes(self) -> int:
        """The memory of a task that sums products: Gram matrices and a chunk of rows."""
        if not self.gram_sums:
            return 0
        return 3 * products_bytes(self.method._width) + 12 * CHUNK_NODES * self.method._width

    def columns_shuffle(self) -> int:
        """The bytes fetched or shuffled with "columns".

        The graph goes to every worker, slabs to the tasks that make vectors, norms to nodes and
        scales to every worker. Before that, features are joined with nodes and packed by chunks.
        A Gram matrix takes all slabs. After each pass but the last, the whitening takes all slabs
        as well, and the next pass takes what it wrote, twice: for its norms, and for its sum.
        """
        workers = self.cluster.workers
        norms = sum(self.orders) * self.nodes * (8 * self.slabs + 4 * workers)
        packed = 2 * self.feature_bytes
        slabs = (self.gram_sums + 3 * (self.passes - 1) + 1) * self.vector_bytes
        grams = self.gram_sums * self.products_shuffle(self.row_parts)
        degrees = 8 * self.nodes if self.method.degree_weight else 0
        fetched = self.graph_bytes + (self.more_bytes if self.method.relations == "concat" else 0)
        return workers * fetched + slabs + norms + grams + degrees + packed

    def estimate_columns(self, reason: str) -> SparkEstimate:
        """The estimate for "columns"."""
        rounds = -(-self.slabs // self.cluster.workers)
        runs = 2 if any(self.orders) else 1
        compute = runs * rounds * self._hop_seconds() * sum(self.hops)
        squares = 8 * max(self.orders) * self.nodes * self.slabs
        spill = self.graph_bytes + 2 * self.vector_bytes + squares
        return self._estimate(
            "columns", reason, 1, self.columns_bytes(), self.columns_shuffle(), spill, compute
        )

    @property
    def hops(self) -> list[int]:
        """The number of hops of each pass."""
        return [max(weights) for weights in self.pass_weights]

    def blocks_bytes(self, blocks: int) -> int:
        """The memory of a worker with "blocks": a block before and after a hop, and its cells.

        Between passes, each core sums products or whitens a chunk of rows instead.
        """
        rows = (2 * CACHE_LINE_BYTES + 32) * self.nodes // blocks
        hop = rows + 2 * self.part_bytes // blocks**2
        return max(hop, self.cluster.cores * self._products_bytes())

    def hop_shuffle(self, blocks: int) -> int:
        """The bytes shuffled per hop: all rows to every block of rows, all cells to every slab."""
        cells = self.part_bytes + 4 * self.nodes * blocks
        return blocks * self.vector_bytes + self.slabs * cells

    def estimate_blocks(self, reason: str) -> SparkEstimate:
        """The estimate for "blocks", with the fewest blocks that fit."""
        for blocks in range(2, MAX_BLOCKS + 1):
            if self.blocks_bytes(blocks) <= self.cluster.memory:
                break
        else:
            raise MemoryLimitError(
                f"embed: even {MAX_BLOCKS:,} blocks need {format_bytes(self.blocks_bytes(blocks))} "
                f"of memory per worker, and a worker has {format_bytes(self.cluster.memory)}. "
                "Use workers with more memory, or raise memory= if it is set."
            )
        rounds = -(-self.slabs * blocks // self.cluster.workers) / blocks
        compute = rounds * self._hop_seconds() * sum(self.hops)
        tables = max(len(weights) for weights in self.pass_weights) + 2 + (self.passes > 1)
        spill = self.graph_bytes + tables * self.vector_bytes
        needed, shuffle = self.blocks_bytes(blocks), self.blocks_shuffle(blocks)
        return self._estimate("blocks", reason, blocks, needed, shuffle, spill, compute)

    def blocks_shuffle(self, blocks: int) -> int:
        """The bytes shuffled with "blocks": in hops, by orders to their sum, and for products."""
        orders = sum(len(weights) for weights in self.pass_weights)
        shuffle = sum(self.hops) * self.hop_shuffle(blocks) + orders * self.vector_bytes
        tasks = self.cluster.workers * self.cluster.cores
        parts = max(tasks, -(-self.vector_bytes // READ_BYTES))
        shuffle += self.gram_sums * self.products_shuffle(parts)
        return shuffle + (3 if 0 in self.pass_weights[0] else 2) * self.feature_bytes

    def _hop_seconds(self) -> float:
        """The time of a worker for one hop of one slab."""
        entries = self.parts.entries // self.parts.count if self.parts else self.entries
        return entries * GATHER_SECONDS / self.cluster.cores

    def _product_seconds(self) -> float:
        """The time of Gram matrices and projections, and of eigenvectors on the driver."""
        width, cores = self.method._width, self.cluster.workers * self.cluster.cores
        products = 1.5 * self.nodes * width**2 / cores + 20 * width**3
        return self.gram_sums * products * PRODUCT_SECONDS

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
        written = 4 * self.nodes * int(self.method.dim) / (cores * WRITE_RATE)
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
            seconds=ingest + moved + compute + self._product_seconds() + written,
        )


def _count(number: int, noun: str) -> str:
    """A number with a noun in singular or plural."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _duration(seconds: float) -> str:
    """A rounded duration, such as '25 min' or '3.5 h'."""
    minutes = seconds / 60
    if minutes < 1:
        return f"{seconds:.2g} s"
    return f"{minutes:.2g} min" if minutes < 60 else f"{minutes / 60:.2g} h"
