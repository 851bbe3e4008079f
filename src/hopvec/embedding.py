"""Embedding: vectors, the ids they belong to, and how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.fitted import FittedState
from hopvec.errors import ParameterError, UnknownNodeError
from hopvec.graph.ids import first_duplicate
from hopvec.machine import cores, interruptible
from hopvec.progress import Progress

ALIKE = 3  # ids to suggest for one that is not there
SHOWN = 60  # characters of what is no id
QUERIES = 4096  # rows whose neighbors are searched before progress is told
BLOCK = 1 << 18  # rows of another embedding that are looked among at a time


class Neighbors(NamedTuple):
    """The nearest neighbors of every row: best first, ties by row number."""

    rows: NDArray[np.int64]
    """[nodes, k]: rows of the embedding; `embedding.ids.take` makes ids of them."""
    similarity: NDArray[np.float32]
    """[nodes, k]: cosine similarities."""


@dataclass(frozen=True, eq=False, repr=False)
class Embedding:
    """An embedding: row i of `vectors` belongs to `ids[i]`."""

    vectors: NDArray[np.float32]
    ids: pa.Array
    parameters: dict[str, Any] = field(default_factory=dict)
    """The method and its parameters."""
    graph: dict[str, Any] = field(default_factory=dict)
    """The facts of the graph it was made from."""
    fitted_state: FittedState | None = None
    """What the run found in that graph: another one that shares it makes comparable vectors."""

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.ids):
            raise ParameterError(
                f"Embedding: vectors must have one row an id: {len(self.ids):,} ids, "
                f"got the shape {self.vectors.shape}."
            )
        own = self.vectors.view()  # read-only for whoever gets it from here, not for its maker
        own.flags.writeable = False
        object.__setattr__(self, "vectors", own)

    @property
    def dim(self) -> int:
        """The number of columns."""
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        method = self.parameters.get("method", "unknown method")
        nodes = "1 node" if len(self) == 1 else f"{len(self):,} nodes"
        return f"Embedding({nodes}, dim {self.dim}, {method})"

    def __iter__(self) -> Iterator[Any]:
        """The ids, in the order of the rows."""
        return iter(self.ids.to_pylist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The vectors, for numpy: not the ids, which it would find by itself."""
        return np.array(self.vectors, dtype) if copy else np.asarray(self.vectors, dtype)

    def __contains__(self, id: object) -> bool:
        return self._place(id) is not None

    def __getitem__(self, ids: Any) -> NDArray[np.float32]:
        """The vector of an id, or one row for each of a list of ids."""
        if isinstance(ids, slice):
            ends = (ids.start, ids.stop) if ids.step is None else (ids.start, ids.stop, ids.step)
            rows = ":".join("" if end is None else f"{end!r}" for end in ends)
            raise UnknownNodeError(
                f"embedding[...] takes ids; rows by number are embedding.vectors[{rows}]."
            )
        if isinstance(ids, str | int | np.integer):
            vector: NDArray[np.float32] = self.vectors[self.row(ids)]
            return vector
        return self.vectors[self.find(ids)]

    def row(self, id: object) -> int:
        """The row of an id. Raises UnknownNodeError."""
        place = self._place(id)
        if place is None:
            raise self._unknown(id)
        return place

    def _place(self, id: object) -> int | None:
        """The row of an id, by bisection of the ids in order; None if it is not there."""
        order, low, high = self._order, 0, len(self)
        key = self._comparable(id)
        while key is not None and low < high:
            middle = (low + high) // 2
            here = int(order[middle]) if order is not None else middle
            found = self._comparable(self.ids[here].as_py())
            if found == key:
                return here
            low, high = (middle + 1, high) if found < key else (low, middle)
        return None

    def find(self, ids: Sequence[Any] | pa.Array | NDArray[Any]) -> NDArray[np.int64]:
        """The rows of many ids. Raises UnknownNodeError for the first that is not there."""
        import pyarrow.compute as pc

        if isinstance(ids, np.ndarray) and ids.dtype.kind == "U":
            ids = ids.tolist()  # Arrow would cut these at their first null character
        try:
            wanted = pa.array(ids)
            if len(wanted) and not self._same_kind(wanted.type):
                raise TypeError(wanted.type)
            wanted = wanted.cast(self.ids.type)
        except (pa.ArrowException, TypeError, OverflowError, UnicodeError):
            raise self._unknown(next((id for id in _listed(ids) if id not in self), ids)) from None
        rows = pc.index_in(wanted, value_set=self._distinct)
        if rows.null_count:
            raise self._unknown(wanted[rows.is_null().index(True).as_py()].as_py())
        found: NDArray[np.int64] = rows.to_numpy().astype(np.int64)
        return found

    def nearest(
        self, id: object, k: int = 10, *, among: Embedding | None = None
    ) -> list[tuple[Any, float]]:
        """The k nodes most similar to one, best first, with their cosine similarity.

        Of the other nodes, or of all `among` a comparable embedding: the old nodes near a new one
        of `embed_new`. Exact; ties are broken by row. Nothing is near a node whose vector is zero.
        O(n dim).
        """
        if isinstance(id, np.ndarray | list | tuple):
            raise UnknownNodeError(f"nearest takes the id of one node, got {_shown(id)}.")
        row = self.row(id)
        if not self.vectors[row].any():
            return []
        if among is not None:
            return self._nearest_among(among, row, k)
        rows, similarity = self.nearest_rows([row], k)
        ids = self.ids.take(pa.array(rows[0])).to_pylist()
        return list(zip(ids, similarity[0].tolist(), strict=True))

    def _nearest_among(self, other: Embedding, row: int, k: int) -> list[tuple[Any, float]]:
        """The nodes of another embedding most similar to a row of this one, by blocks of rows."""
        if other.dim != self.dim:
            raise ParameterError(
                f"These vectors cannot be compared: {self.dim} columns, and {other.dim} in those "
                "to look among."
            )
        k, own, query = _checked(k), slice(row, row + 1), np.zeros(1, dtype=np.int64)
        found: list[tuple[int, float]] = []
        for first in range(0, len(other), BLOCK):
            some = slice(first, first + BLOCK)
            vectors = np.concatenate([self.vectors[own], other.vectors[some]])
            norms = np.concatenate([self.inverse_norms[own], other.inverse_norms[some]])
            most = min(k, len(vectors) - 1)
            near, similarity = interruptible(
                partial(_native.nearest, vectors, norms, query, most, cores())
            )
            places = near + (first - 1)
            found += zip(places.tolist(), np.clip(similarity, -1.0, 1.0).tolist(), strict=True)
        best = sorted(found, key=lambda one: -one[1])[:k]
        return [(other.ids[place].as_py(), similarity) for place, similarity in best]

    def nearest_all(self, k: int = 10, *, progress: Progress | None = None) -> Neighbors:
        """The k nodes most similar to each node, as row numbers and cosine similarities.

        `embedding.ids.take(pa.array(neighbors.rows[i]))` names those of row i. Exact: O(n^2 dim).
        `progress` is called with the rows done and their number.
        """
        return self.nearest_rows(np.arange(len(self), dtype=np.int64), k, progress=progress)

    def nearest_rows(
        self,
        rows: Sequence[int] | NDArray[np.int64],
        k: int = 10,
        *,
        among: Sequence[int] | NDArray[np.int64] | None = None,
        progress: Progress | None = None,
    ) -> Neighbors:
        """The k nodes most similar to each of some rows, as row numbers and cosine similarities.

        `among` are the rows to choose from, instead of all; they must be distinct. A row is no
        neighbor of itself: k is at most the number of rows to choose from, and one less if some
        are asked for themselves. `progress` is called with the rows done and their number.
        """
        queries, k = self._numbers("rows", rows), _checked(k)
        if among is None:
            k = max(0, min(k, len(self) - 1))
        else:
            among = self._numbers("among", among)
            if k >= len(among):
                k = len(among) - bool(np.isin(among, queries).any())
        norms = self.inverse_norms
        shape = len(queries), k
        found = Neighbors(np.empty(shape, np.int64), np.empty(shape, np.float32))
        for first in range(0, len(queries) if k else 0, QUERIES):
            some = queries[first : first + QUERIES]
            near, similarity = interruptible(
                partial(_native.nearest, self.vectors, norms, some, k, cores(), among=among)
            )
            part = slice(first, first + len(some))
            found.rows[part] = near.reshape(-1, k)
            # rounding may leave a cosine just outside
            found.similarity[part] = np.clip(similarity, -1.0, 1.0).reshape(-1, k)
            if progress:
                progress(part.stop, len(queries))
        return found

    def _numbers(self, name: str, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of rows. Raises ParameterError for what is none: the kernel does not look."""
        numbers = np.asarray(rows)
        if not numbers.size:
            return np.empty(0, dtype=np.int64)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise ParameterError(
                f"nearest_rows: {name} must be a list of row numbers, got {_shown(rows)}."
            )
        wrong = (numbers < 0) | (numbers >= len(self))
        if wrong.any():
            raise ParameterError(
                f"nearest_rows: {name} must be among the {len(self):,} rows of this embedding, "
                f"counted from 0, got {numbers[np.argmax(wrong)]:,}."
            )
        return numbers.astype(np.int64, copy=False)

    @cached_property
    def inverse_norms(self) -> NDArray[np.float32]:
        """1 / |vector| of every row, 0 for a zero vector. Raises if one is not finite."""
        norms = interruptible(lambda stop: _native.inverse_norms(self.vectors, cores(), stop))
        if np.isnan(norms).any():
            wrong = self.ids[int(np.argmax(np.isnan(norms)))].as_py()
            raise ParameterError(f"The vector of {wrong!r} holds a NaN or an infinity.")
        return norms

    def save(
        self,
        path: str | PathLike[str],
        *,
        dtype: str = "float32",
        progress: Progress | None = None,
    ) -> None:
        """Writes the embedding whole or not at all; the suffix names the format.

        .parquet, .arrow, .npy with its ids beside it, .npz, .csv, .tsv, .txt or .bin for word2vec.
        Those before .csv keep the parameters, and can hold `dtype="float16"` at half the size.
        `progress` is called with the rows written and their number.
        """
        from hopvec.formats import write_embedding

        write_embedding(self, path, dtype=dtype, progress=progress)

    def export(
        self,
        target: str,
        *,
        table: str = "vectors",
        replace: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """The number of rows written to a table of a vector store.

        The target is "duckdb:graph.db" or "lancedb:folder". A table of that name is replaced if
        hopvec made it; any other one is refused with ParameterError, unless `replace` is True.
        """
        from hopvec.stores import export

        return export(self, target, table=table, replace=replace, progress=progress)

    @staticmethod
    def load(path: str | PathLike[str], *, progress: Progress | None = None) -> Embedding:
        """Reads an embedding that `save` wrote, with its parameters where the format has them.

        `progress` is called with how much is read, and of how much.
        """
        from hopvec.formats import read_embedding

        return read_embedding(path, progress=progress)

    @cached_property
    def _order(self) -> NDArray[np.uint64] | None:
        """The rows in ascending order of their ids, or None where they are so already."""
        import pyarrow.compute as pc

        if len(self) < 2 or pc.all(pc.less(self.ids[:-1], self.ids[1:])).as_py():
            return None
        order: NDArray[np.uint64] = pc.sort_indices(self._distinct).to_numpy()
        return order

    @cached_property
    def _distinct(self) -> pa.Array:
        """The ids. Raises ParameterError if one comes twice, since rows are ambiguous."""
        twice = first_duplicate(self.ids)
        if twice is not None:
            raise ParameterError(
                f"Embedding: the id {twice!r} comes more than once, and every row must have its "
                "own."
            )
        return self.ids

    def _comparable(self, id: object) -> Any:
        """An id as Arrow orders it: UTF-8 bytes, or an integer; None if it is of the other kind."""
        if pa.types.is_integer(self.ids.type):
            if isinstance(id, bool) or not isinstance(id, int | np.integer):
                return None
            return int(id)
        return id.encode(errors="surrogatepass") if isinstance(id, str) else None

    def _same_kind(self, other: pa.DataType) -> bool:
        """Whether ids of this Arrow type can be ids of this embedding: a 7 is never a "7"."""
        other = other.value_type if pa.types.is_dictionary(other) else other
        text = str(other) in ("string", "large_string", "string_view", "null")
        return pa.types.is_integer(other) if pa.types.is_integer(self.ids.type) else text

    def _unknown(self, id: object) -> UnknownNodeError:
        if self._comparable(id) is None:
            kind = "integers" if pa.types.is_integer(self.ids.type) else "strings"
            return UnknownNodeError(f"No node {_shown(id)}: the ids of this embedding are {kind}.")
        message = f"No node {_shown(id)} among the {len(self):,} of this embedding."
        if isinstance(id, str) and (close := self._alike(id)):
            message += " Did you mean " + " or ".join(repr(name) for name in close) + "?"
        return UnknownNodeError(message)

    def _alike(self, id: str) -> list[str]:
        """At most three ids that may be meant, whatever their case, the likeliest first."""
        import pyarrow.compute as pc

        wanted = id.encode(errors="ignore").decode().lower()  # half a surrogate pair is no text
        if not wanted:
            return []
        names = pc.utf8_lower(self.ids)
        found = [twin for twin in (f"{id}.0", id.removesuffix(".0"), id.strip()) if twin in self]
        for alike in (
            pc.equal(names, wanted),
            pc.starts_with(names, wanted),
            pc.match_substring(names, wanted),
        ):
            if len(found) < ALIKE:
                found += _shortest(self.ids.filter(alike))
                found = list(dict.fromkeys(found))
        if not found:
            found = _close(wanted, self.ids.filter(pc.starts_with(names, wanted[:2])))
        return found[:ALIKE]


def _shortest(ids: pa.Array) -> list[str]:
    """The shortest few of some ids, in their order."""
    import pyarrow.compute as pc

    table = pa.table({"id": ids, "length": pc.utf8_length(ids), "row": np.arange(len(ids))})
    order = [("length", "ascending"), ("row", "ascending")]
    names: list[str] = ids.take(pc.select_k_unstable(table, ALIKE, order)).to_pylist()
    return names


def _close(wanted: str, ids: pa.Array) -> list[str]:
    """The few of some ids that differ from a text by few letters."""
    import difflib

    names = {name.lower(): name for name in ids.slice(0, 20_000).to_pylist()}
    return [names[name] for name in difflib.get_close_matches(wanted, names, n=ALIKE)]


def _listed(ids: Any) -> list[Any]:
    """The ids of any column; what is no column stands for itself."""
    try:
        return [id.as_py() if isinstance(id, pa.Scalar) else id for id in ids]
    except TypeError:
        return [ids]


def _checked(k: Any) -> int:
    """A number of neighbors to find."""
    if not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"nearest: k must be an integer of at least 1, got {k!r}.")
    return int(k)


def _shown(id: object) -> str:
    """An id in a sentence; what is none, such as a vector, is cut short."""
    text = repr(id)
    return text if isinstance(id, str) or len(text) <= SHOWN else f"{text[: SHOWN - 4]} ..."


def load(path: str | PathLike[str], *, progress: Progress | None = None) -> Embedding:
    """Reads an embedding that `Embedding.save` wrote, or another program in one of its formats.

    The vectors are float32; those of .npy stay on disk until they are touched. `progress` is called
    with how much is read, and of how much.
    """
    return Embedding.load(path, progress=progress)
