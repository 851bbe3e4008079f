"""Type stubs of the compiled module, whose sources are in engine/native."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

class Stop:
    """A flag that makes every running loop return early; may be set from any thread."""

    def __init__(self) -> None: ...
    def set(self) -> None: ...
    @property
    def stopped(self) -> bool: ...

class Edges:
    """A chunk of an edge list, and how its ids map to node numbers."""

    def __init__(
        self,
        source: NDArray[Any],
        target: NDArray[Any],
        weight: NDArray[np.float32] | None,
        offset: int,
        table: NDArray[np.int32] | None,
        directed: bool,
        drop_loops: bool,
    ) -> None: ...
    def __len__(self) -> int: ...

class EntryBuckets:
    """Counts and places the entries of chunks of edges, grouped by ranges of rows."""

    def __init__(self, nodes: int) -> None: ...
    def count(
        self, edges: Edges, counts: NDArray[np.int64], threads: int, stop: Stop
    ) -> tuple[int, int]: ...
    def place(
        self,
        edges: Edges,
        first: int,
        cursor: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        threads: int,
        stop: Stop,
    ) -> None: ...

class _Dictionary:
    """Assigns integer codes to ids in order of arrival, with one thread per shard."""

    def __init__(self, shards: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def text_bytes(self) -> int:
        """The bytes of all ids that are strings, before `merge`."""

    @property
    def sizes(self) -> list[int]:
        """Number of ids per shard; number k of shard s has the code k * shards + s."""

class StringDictionary(_Dictionary):
    def encode(self, offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> NDArray[np.int32]: ...
    def merge(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Offsets and bytes of all ids, shard by shard; nothing can be encoded afterwards."""

class IntegerDictionary(_Dictionary):
    def encode(self, ids: NDArray[np.int64]) -> NDArray[np.int32]: ...
    def merge(self) -> NDArray[np.int64]:
        """All ids, shard by shard; nothing can be encoded afterwards."""

class SparseRows:
    """Samples a sparse R: signs and zeros."""

    def __init__(self, *, seed: int, sparsity: float) -> None: ...

class GaussianRows:
    """Samples a normally distributed R, divided by 8."""

    def __init__(self, *, seed: int) -> None: ...

class Features:
    """Features X of nodes, added to R as weight * X P."""

    def __init__(
        self,
        *,
        number: NDArray[np.float32],
        factor: NDArray[np.float32],
        shift: NDArray[np.float32],
        number_key: NDArray[np.uint64],
        category: NDArray[np.uint64],
        rows: NDArray[np.int32],
        seed: int,
        weight: float,
    ) -> None: ...

class Adjacency:
    """S in CSR form and 1 / degree. Keeps the arrays alive."""

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        inverse_degrees: NDArray[np.float32],
        mapped: bool = False,
    ) -> None: ...

class Sink:
    """Where a finished row of one order is written. Keeps the arrays alive."""

    def __init__(
        self,
        *,
        next: NDArray[np.uint8] | None = None,
        squares: NDArray[np.float64] | None = None,
        sum: NDArray[np.float32] | None = None,
        rows: NDArray[np.int32] | None = None,
        first_column: int = 0,
        columns: int = 0,
        scale: NDArray[np.float32] | None = None,
        weight: float = 0.0,
        add: bool = False,
        fused: tuple[tuple[NDArray[np.uint8], NDArray[np.float32] | None, float], ...] = (),
    ) -> None: ...

class LineOrder:
    """Parameters of training one order of proximity of LINE."""

    def __init__(
        self,
        *,
        seed: int,
        number: int,
        samples: int,
        negatives: int,
        rate: float,
        both_directions: bool,
    ) -> None: ...

class EdgeSampler:
    """Samples edges by weight and negative samples from noise."""

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        degrees: NDArray[np.float64],
        noise: NDArray[np.float64],
        threads: int,
        stop: Stop,
    ) -> None: ...
    def draw(self, order: LineOrder, first: int, count: int) -> NDArray[np.int32]: ...

class ErdosRenyi:
    """Distinct pairs of nodes, all equally likely."""

    def __init__(self, *, nodes: int, seed: int) -> None: ...
    def draw(
        self,
        first: int,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        threads: int,
        stop: Stop,
    ) -> None: ...

class ChungLu:
    """Both ends drawn by weights that follow a power law."""

    def __init__(
        self, *, nodes: int, exponent: float, offset: float, shuffled: bool, seed: int
    ) -> None: ...
    def draw(
        self,
        first: int,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        threads: int,
        stop: Stop,
    ) -> None: ...

class RMat:
    """Edges by recursive choice of a quadrant."""

    def __init__(
        self, *, scale: int, a: float, b: float, c: float, shuffled: bool, seed: int
    ) -> None: ...
    def draw(
        self,
        first: int,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        threads: int,
        stop: Stop,
    ) -> None: ...

def level() -> str: ...
def report_truncated_maps() -> None: ...
def allocate(bytes: int) -> NDArray[np.uint8]: ...
def power(x: NDArray[np.float64], y: float) -> NDArray[np.float64]: ...
def logarithm(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def degrees(
    indptr: NDArray[np.int64], weights: NDArray[np.float32] | None, mapped: bool = False
) -> NDArray[np.float64]: ...
def nodes_with_loops(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], mapped: bool = False
) -> int: ...
def largest_component(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    symmetric: bool,
    mapped: bool,
    stop: Stop,
) -> int: ...
def parse_integers(
    offsets: NDArray[np.int64], bytes: NDArray[np.uint8]
) -> NDArray[np.int64] | None: ...
def sort_strings(offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> NDArray[np.int32]: ...
def take_strings(
    offsets: NDArray[np.int64], bytes: NDArray[np.uint8], order: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
def integer_keys(ids: NDArray[np.int64]) -> NDArray[np.uint64]: ...
def string_keys(offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> NDArray[np.uint64]: ...
def sort_rows(
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    threads: int,
    stop: Stop,
) -> None: ...
def count_distinct(
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    indices: NDArray[np.int32],
    distinct: NDArray[np.int32],
    columns: NDArray[np.int32] | None,
    threads: int,
    stop: Stop,
) -> int: ...
def order_nodes(
    distinct: NDArray[np.int32],
    columns: NDArray[np.int32] | None,
    keys: NDArray[np.uint64],
    threads: int,
    stop: Stop,
) -> NDArray[np.int32]: ...
def merge_and_renumber(
    unmerged_indptr: NDArray[np.int64],
    unmerged_indices: NDArray[np.int32],
    unmerged_weights: NDArray[np.float32] | None,
    unmerged_first: int,
    new_number: NDArray[np.int32],
    indptr: NDArray[np.int64],
    first: int,
    last: int,
    sum: bool,
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    threads: int,
    stop: Stop,
) -> bool: ...
def symmetric(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    threads: int,
    stop: Stop,
) -> bool: ...
def draw(
    sampler: SparseRows | GaussianRows,
    keys: NDArray[np.uint64],
    diagonal: NDArray[np.float32],
    slab: int,
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
    features: Features | None = None,
) -> None: ...
def emit_rows(
    rows: NDArray[np.float32],
    first: int,
    diagonal: NDArray[np.float32],
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
) -> None: ...
def first_hop(
    adjacency: Adjacency,
    sampler: SparseRows,
    keys: NDArray[np.uint64],
    diagonal: NDArray[np.float32],
    slab: int,
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
) -> None: ...
def hop(
    adjacency: Adjacency,
    block: NDArray[np.uint8],
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
) -> None: ...
def gather_lines(
    adjacency: Adjacency,
    lines: NDArray[np.float32],
    out: NDArray[np.float32],
    distance: int,
    threads: int,
    stop: Stop,
) -> None: ...
def triad(
    a: NDArray[np.float32],
    b: NDArray[np.float32],
    out: NDArray[np.float32],
    threads: int,
    stop: Stop,
) -> None: ...
def weighted_sum(
    orders: list[NDArray[np.uint8]],
    weights: list[float],
    unit: bool,
    slabs: int,
    as_half: bool,
    sum: NDArray[np.float32],
    rows: NDArray[np.int32],
    threads: int,
    stop: Stop,
) -> None: ...
def moments(
    sum: NDArray[np.float32],
    rows: NDArray[np.int32],
    mean: NDArray[np.float64] | None,
    threads: int,
    stop: Stop,
) -> NDArray[np.float64]: ...
def standardize(
    sum: NDArray[np.float32],
    rows: NDArray[np.int32],
    mean: NDArray[np.float64],
    factor: NDArray[np.float64],
    unit: bool,
    threads: int,
    stop: Stop,
) -> None: ...
def cumulative_weights(
    indptr: NDArray[np.int64], weights: NDArray[np.float32], threads: int, stop: Stop
) -> NDArray[np.float64]: ...
def walk_order(keys: NDArray[np.uint64], seed: int, round: int) -> NDArray[np.int32]: ...
def random_walks(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    cumulative: NDArray[np.float64] | None,
    p: float,
    q: float,
    keys: NDArray[np.uint64],
    first: NDArray[np.int32],
    seed: int,
    round: int,
    length: int,
    threads: int,
    stop: Stop,
) -> NDArray[np.int32]: ...
def alias_table(
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]: ...
def column_sums(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None
) -> NDArray[np.float64]: ...
def initialize_line(
    order: LineOrder, keys: NDArray[np.uint64], dim: int, vectors: NDArray[np.float32]
) -> None: ...
def train_line(
    sampler: EdgeSampler,
    order: LineOrder,
    vectors: NDArray[np.float32],
    contexts: NDArray[np.float32],
    first: int,
    last: int,
    workers: int,
    stop: Stop,
) -> None: ...
def inverse_norms(
    vectors: NDArray[np.float32], threads: int, stop: Stop
) -> NDArray[np.float32]: ...

_Rows = tuple[
    NDArray[np.float32],
    NDArray[np.float32],
    NDArray[np.float32] | None,
    NDArray[np.int64] | None,
]

def top_products(
    queries: _Rows,
    candidates: _Rows,
    indptr: NDArray[np.int64] | None,
    excluded: NDArray[np.int64] | None,
    k: int,
    min_product: float,
    threads: int,
    stop: Stop,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...
def pair_products(first: _Rows, second: _Rows, threads: int, stop: Stop) -> NDArray[np.float32]: ...
def top_paths(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    entry: NDArray[np.float64] | None,
    inner: NDArray[np.float64] | None,
    last: NDArray[np.float64] | None,
    steps: int,
    from_nodes: NDArray[np.int64],
    allowed: NDArray[np.uint8] | None,
    excluded_indptr: NDArray[np.int64],
    excluded: NDArray[np.int64],
    rows: NDArray[np.int32],
    k: int,
    threads: int,
    stop: Stop,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def score_paths(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    entry: NDArray[np.float64] | None,
    inner: NDArray[np.float64] | None,
    last: NDArray[np.float64] | None,
    steps: int,
    from_nodes: NDArray[np.int64],
    to_nodes: NDArray[np.int64],
    threads: int,
    stop: Stop,
) -> NDArray[np.float64]: ...
def count_common(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    into_indptr: NDArray[np.int64],
    into_indices: NDArray[np.int32],
    steps: int,
    from_nodes: NDArray[np.int64],
    to_nodes: NDArray[np.int64],
    threads: int,
    stop: Stop,
) -> NDArray[np.int32]: ...
def best_pairs(
    vectors: NDArray[np.float32],
    scale: NDArray[np.float32],
    first: int,
    last: int,
    k: int,
    min_similarity: float,
    threads: int,
    stop: Stop,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]: ...
def product(
    matrix: NDArray[np.float32],
    block: NDArray[np.float64],
    transposed: bool,
    threads: int,
    stop: Stop,
) -> NDArray[np.float64]: ...
def add_gram(
    rows: NDArray[np.float32], gram: NDArray[np.float64], threads: int, stop: Stop
) -> None: ...
def add_normalized_gram(
    rows: NDArray[np.float32],
    mean: NDArray[np.float64],
    factor: NDArray[np.float64],
    total: NDArray[np.float64],
    gram: NDArray[np.float64],
    threads: int,
    stop: Stop,
) -> None: ...
def center_gram(gram: NDArray[np.float64], mean: NDArray[np.float64], rows: int) -> None: ...
def project_rows(
    rows: NDArray[np.float32],
    mean: NDArray[np.float64],
    factor: NDArray[np.float64],
    matrix: NDArray[np.float32],
    offset: NDArray[np.float32],
    unit_factor: NDArray[np.float64] | None,
    out: NDArray[np.float32],
    targets: NDArray[np.int32] | None,
    threads: int,
    stop: Stop,
) -> None: ...
def spectral_matrix(
    vectors: NDArray[np.float64], factor: NDArray[np.float64], threads: int, stop: Stop
) -> NDArray[np.float64]: ...
def basis_products(
    basis: list[NDArray[np.float64]], block: NDArray[np.float64], threads: int, stop: Stop
) -> NDArray[np.float64]: ...
def add_combination(
    basis: list[NDArray[np.float64]],
    coefficients: NDArray[np.float64],
    block: NDArray[np.float64],
    threads: int,
    stop: Stop,
) -> None: ...
def positive_logarithm(
    matrix: NDArray[np.float32], factor: NDArray[np.float64], threads: int, stop: Stop
) -> None: ...
def eigen(
    matrix: NDArray[np.float64], count: int, by_magnitude: bool, threads: int, stop: Stop
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
