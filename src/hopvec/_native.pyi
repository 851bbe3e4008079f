"""Type stubs of the compiled module, whose sources are in engine/native."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Stop:
    """Set from any thread, it makes every running loop return early."""

    def __init__(self) -> None: ...
    def set(self) -> None: ...
    @property
    def stopped(self) -> bool: ...

class Edges:
    """Some edges of a list, and how the ids of their ends become node numbers."""

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
    def count(self, counts: NDArray[np.int64], threads: int, stop: Stop) -> tuple[int, int]: ...
    def place(
        self,
        first: int,
        cursor: NDArray[np.int64],
        neighbor: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
        threads: int,
        stop: Stop,
    ) -> None: ...

class _Dictionary:
    """Codes for ids as they come, by as many threads as it has shards."""

    def __init__(self, shards: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def sizes(self) -> list[int]:
        """Of the shards: number k of shard s has the code k * shards + s."""

class TextDictionary(_Dictionary):
    def encode(self, offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> NDArray[np.int32]: ...
    def merge(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """The texts of all shards, one after the other; nothing can be encoded after that."""

class IntegerDictionary(_Dictionary):
    def encode(self, ids: NDArray[np.int64]) -> NDArray[np.int32]: ...
    def merge(self) -> NDArray[np.int64]:
        """The integers likewise."""

class SparseRows:
    """The law of a very sparse R: signs and zeros."""

    def __init__(self, *, seed: int, sparsity: float) -> None: ...

class GaussianRows:
    """The law of a normal R: entries are an eighth of it."""

    def __init__(self, *, seed: int) -> None: ...

class Features:
    """What is known of nodes beside their edges, as weight * X P joins R."""

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
    """The rows of S and 1/d, as the kernels see them."""

    def __init__(
        self,
        start: NDArray[np.int64],
        neighbor: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
        inverse_degree: NDArray[np.float32],
        mapped: bool = False,
    ) -> None: ...

class Sink:
    """Where a finished row of one order goes."""

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
        joined: Sequence[tuple[NDArray[np.uint8], NDArray[np.float32] | None, float]] = (),
    ) -> None: ...

class LineOrder:
    """How one order of proximity is trained by LINE."""

    def __init__(
        self,
        *,
        seed: int,
        number: int,
        samples: int,
        negatives: int,
        rate: float,
        turned: bool,
    ) -> None: ...

class EdgeSampler:
    """Draws edges by weight and negative samples from noise."""

    def __init__(
        self,
        start: NDArray[np.int64],
        neighbor: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
        degree: NDArray[np.float64],
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
    """Pairs of nodes drawn by weights of a power law."""

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
    """Pairs of nodes by quadrants within quadrants."""

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
def allocate(bytes: int) -> NDArray[np.uint8]: ...
def power(x: NDArray[np.float64], y: float) -> NDArray[np.float64]: ...
def degrees(
    start: NDArray[np.int64], weight: NDArray[np.float32] | None, mapped: bool = False
) -> NDArray[np.float64]: ...
def nodes_with_loops(
    start: NDArray[np.int64], neighbor: NDArray[np.int32], mapped: bool = False
) -> int: ...
def largest_component(
    start: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    symmetric: bool,
    mapped: bool,
    stop: Stop,
) -> int: ...
def integers_of_texts(
    offsets: NDArray[np.int64], bytes: NDArray[np.uint8]
) -> NDArray[np.int64] | None: ...
def sort_texts(offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> NDArray[np.int32]: ...
def take_texts(
    offsets: NDArray[np.int64], bytes: NDArray[np.uint8], order: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
def keys_of_integers(ids: NDArray[np.int64]) -> NDArray[np.uint64]: ...
def keys_of_strings(offsets: NDArray[np.int64], bytes: NDArray[np.uint8]) -> NDArray[np.uint64]: ...
def sort_rows(
    start: NDArray[np.int64],
    first: int,
    last: int,
    neighbor: NDArray[np.int32],
    weight: NDArray[np.float32] | None,
    directed: bool,
    keep_order: bool,
    distinct: NDArray[np.int32],
    threads: int,
    stop: Stop,
) -> int: ...
def count_columns(
    start: NDArray[np.int64],
    first: int,
    last: int,
    neighbor: NDArray[np.int32],
    columns: NDArray[np.int32],
) -> None: ...
def order_nodes(
    distinct: NDArray[np.int32], columns: NDArray[np.int32] | None, keys: NDArray[np.uint64]
) -> NDArray[np.int32]: ...
def renumber(
    draft_start: NDArray[np.int64],
    draft_neighbor: NDArray[np.int32],
    draft_weight: NDArray[np.float32] | None,
    draft_first: int,
    number: NDArray[np.int32],
    start: NDArray[np.int64],
    first: int,
    last: int,
    sum: bool,
    neighbor: NDArray[np.int32],
    weight: NDArray[np.float32] | None,
    threads: int,
    stop: Stop,
) -> bool: ...
def symmetric(
    start: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    weight: NDArray[np.float32] | None,
    threads: int,
    stop: Stop,
) -> bool: ...
def draw(
    random: SparseRows | GaussianRows,
    keys: NDArray[np.uint64],
    diagonal: NDArray[np.float32],
    slab: int,
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
    features: Features | None = None,
) -> None: ...
def first_hop(
    graph: Adjacency,
    random: SparseRows,
    keys: NDArray[np.uint64],
    diagonal: NDArray[np.float32],
    slab: int,
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
) -> None: ...
def hop(
    graph: Adjacency,
    block: NDArray[np.uint8],
    as_half: bool,
    sink: Sink,
    threads: int,
    stop: Stop,
) -> None: ...
def gather_lines(
    start: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    lines: NDArray[np.float32],
    out: NDArray[np.float32],
    distance: int,
    threads: int,
    stop: Stop,
) -> None: ...
def triad(
    one: NDArray[np.float32],
    other: NDArray[np.float32],
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
    start: NDArray[np.int64], weight: NDArray[np.float32], threads: int, stop: Stop
) -> NDArray[np.float64]: ...
def walk_order(keys: NDArray[np.uint64], seed: int, number: int) -> NDArray[np.int32]: ...
def random_walks(
    start: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    cumulative: NDArray[np.float64] | None,
    p: float,
    q: float,
    keys: NDArray[np.uint64],
    first: NDArray[np.int32],
    seed: int,
    number: int,
    length: int,
    threads: int,
    stop: Stop,
) -> NDArray[np.int32]: ...
def alias_places(
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.int32]]: ...
def column_sums(
    start: NDArray[np.int64], neighbor: NDArray[np.int32], weight: NDArray[np.float32] | None
) -> NDArray[np.float64]: ...
def start_line(
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
def nearest(
    vectors: NDArray[np.float32],
    inverse_norm: NDArray[np.float32],
    queries: NDArray[np.int64],
    k: int,
    threads: int,
    stop: Stop,
    among: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...
def best_pairs(
    vectors: NDArray[np.float32],
    scale: NDArray[np.float32],
    first: int,
    last: int,
    k: int,
    least: float,
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
