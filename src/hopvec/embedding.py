"""Embedding: vectors, their ids, and how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.approximate import ApproximateIndex
from hopvec.engine.fitted import FittedState
from hopvec.errors import GraphError, ParameterError, UnknownNodeError
from hopvec.graph.ids import arrow_view, as_ids, first_duplicate
from hopvec.graph.node_types import encode_types, type_mask
from hopvec.machine import cores, file_map, interruptible, memory_limit, release_pages
from hopvec.neighbors import Neighbors as Neighbors
from hopvec.neighbors import NeighborSearch
from hopvec.progress import ProgressOption, callback

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

MAPPED_ROWS = 1 << 13  # rows of memory-mapped vectors that are read at a time
MAX_SUGGESTIONS = 3  # ids suggested for an unknown one
MAX_SHOWN = 60  # characters of an invalid id in a message


@dataclass(frozen=True, eq=False, repr=False)
class Embedding:
    """Vectors of nodes, their ids, and how they were made.

    Row i of `vectors` belongs to `ids[i]`. `embedding["a"]` is the vector of a node, and
    `embedding[["a", "b"]]` has one row per id. `len(embedding)` is the number of nodes,
    `"a" in embedding` looks up an id, and `numpy.asarray(embedding)` returns the vectors.

    Attributes
    ----------
    vectors : ndarray of float32, shape (nodes, dim)
        The vectors, read-only.
    ids : pyarrow.Array
        The ids, integers or strings, each once.
    parameters : dict
        The method and its parameters.
    graph : dict
        Properties of the graph that was embedded.
    fitted_state : FittedState or None
        What the run learned from the graph. Runs that share it make comparable vectors.
    types : pyarrow.DictionaryArray or None
        The type of each node, such as "user" or "item", null for a node without one; None if no
        types are known. Searches can be limited to types.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> embedding = FastRP(dim=8, seed=7).embed(graph)
    >>> embedding["a"].shape
    (8,)
    >>> len(embedding.nearest("a", k=2))
    2
    """

    vectors: NDArray[np.float32]
    ids: pa.Array
    parameters: dict[str, Any] = field(default_factory=dict)
    graph: dict[str, Any] = field(default_factory=dict)
    fitted_state: FittedState | None = None
    types: pa.DictionaryArray | None = None

    def __post_init__(self) -> None:
        vectors, ids = _checked_vectors(self.vectors), _checked_ids(self.ids)
        if vectors.ndim != 2 or len(vectors) != len(ids):
            raise ParameterError(
                f"Embedding: vectors must have one row per id: {len(ids):,} ids, "
                f"got the shape {vectors.shape}."
            )
        if not vectors.shape[1]:
            raise ParameterError("Embedding: vectors must have at least one column.")
        own = vectors.view()  # read-only for users, not for its creator
        own.flags.writeable = False
        object.__setattr__(self, "vectors", own)
        object.__setattr__(self, "ids", ids)
        if not isinstance(self.fitted_state, FittedState | None):
            raise ParameterError(
                f"Embedding: fitted_state must be that of a run, got {self.fitted_state!r}."
            )
        if self.types is not None:
            types = encode_types("Embedding", self.types, len(self.ids))
            object.__setattr__(self, "types", types)

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
        """The vectors. Without this method, numpy would convert the ids."""
        return np.array(self.vectors, dtype) if copy else np.asarray(self.vectors, dtype)

    def __contains__(self, id: object) -> bool:
        return self._row_or_none(id) is not None

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
        """Return the row of an id.

        Parameters
        ----------
        id : int or str
            The id of a node.

        Returns
        -------
        int
            The row of its vector in `vectors`.

        Raises
        ------
        UnknownNodeError
            If the id is not in the embedding; the message suggests similar ids.

        Examples
        --------
        >>> Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"])).row("bob")
        1
        """
        row = self._row_or_none(id)
        if row is None:
            raise self._unknown(id)
        return row

    def _row_or_none(self, id: object) -> int | None:
        """The row of an id, by bisection; None if it is not in the embedding."""
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
        """Return the rows of many ids.

        Parameters
        ----------
        ids : array-like of int or str
            The ids of nodes: a list, or a numpy, Arrow or pandas column.

        Returns
        -------
        ndarray of int64
            The rows of their vectors in `vectors`.

        Raises
        ------
        UnknownNodeError
            If an id is not in the embedding; the message names the first one.

        Examples
        --------
        >>> Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"])).find(["bob", "ann"])
        array([1, 0])
        """
        import pyarrow.compute as pc

        if isinstance(ids, str | bytes):
            raise ParameterError(f"Embedding: expected a list of ids, got {ids!r}.")
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

    @overload
    def nearest(
        self,
        ids: str | int,
        k: int = ...,
        *,
        among: Any = ...,
        types: str | Sequence[str] | None = ...,
        min_similarity: float = ...,
        approximate: bool = ...,
    ) -> list[tuple[Any, float]]: ...
    @overload
    def nearest(
        self,
        ids: Any,
        k: int = ...,
        *,
        among: Any = ...,
        types: str | Sequence[str] | None = ...,
        min_similarity: float = ...,
        approximate: bool = ...,
    ) -> Any: ...
    def nearest(
        self,
        ids: Any,
        k: int = 10,
        *,
        among: Any = None,
        types: str | Sequence[str] | None = None,
        min_similarity: float = -1.0,
        approximate: bool = False,
    ) -> Any:
        """Find the nodes most similar to a node, or to each of several nodes.

        The search is exact, unless `approximate` is set. Similarity is the cosine of two vectors.

        Parameters
        ----------
        ids : int or str, or array-like
            The id of a node, or many: a list, or a numpy, Arrow or pandas column.
        k : int, default=10
            The number of neighbors per node. A node is never its own neighbor.
        among : Embedding or array-like of ids, optional
            Where to search: a comparable embedding, such as that of the old nodes for a new node of
            `embed_new`, or some nodes of this embedding. By default all nodes of this embedding.
        types : str or sequence of str, optional
            The only types of nodes that may be neighbors, such as "item".
        min_similarity : float, default=-1
            Neighbors that are less similar are left out.
        approximate : bool, default=False
            Whether to search an index, as in `nearest_all`. The first search builds it, which
            takes longer than an exact search for a few nodes.

        Returns
        -------
        list of (id, float), or pyarrow.Table
            For one id, the ids and cosine similarities of its neighbors, most similar first; ties
            are ordered by row. For several ids, a table with the columns id, neighbor, similarity
            and rank (from 1); `to_pandas()` converts it, and polars and duckdb read it directly. A
            node with a zero vector has no neighbors.

        Raises
        ------
        UnknownNodeError
            If an id is not in the embedding.
        ParameterError
            If `k` or `min_similarity` is invalid, `among` has another number of columns, or no
            node is of one of the `types`.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa
        >>> vectors = np.float32([[1, 0], [2, 1], [0, 1]])
        >>> embedding = Embedding(vectors, pa.array(["ann", "bob", "cem"]))
        >>> [id for id, _ in embedding.nearest("ann", 2)]
        ['bob', 'cem']
        >>> embedding.nearest(["ann", "bob"], 1).select(["id", "neighbor", "rank"]).to_pylist()
        [{'id': 'ann', 'neighbor': 'bob', 'rank': 1}, {'id': 'bob', 'neighbor': 'ann', 'rank': 1}]
        """
        search = self._neighbor_search(
            k, among=among, types=types, min_similarity=min_similarity, approximate=approximate
        )
        if not is_one_id(ids):
            return search.table(self.find(ids))
        found = search.table(np.array([self.row(ids)]))
        return list(
            zip(found["neighbor"].to_pylist(), found["similarity"].to_pylist(), strict=True)
        )

    def nearest_all(
        self,
        k: int = 10,
        *,
        types: str | Sequence[str] | None = None,
        min_similarity: float = -1.0,
        mutual: bool = False,
        approximate: bool = False,
        progress: ProgressOption = None,
    ) -> pa.Table:
        """Find the nodes most similar to each node: the k-nearest-neighbor graph.

        The exact search takes O(n^2 dim) time, an approximate one about O(n log(n) dim).

        Parameters
        ----------
        k : int, default=10
            The number of neighbors per node.
        types : str or sequence of str, optional
            The only types of nodes that may be neighbors, as in `nearest`.
        min_similarity : float, default=-1
            Neighbors that are less similar are left out.
        mutual : bool, default=False
            Whether to leave out neighbors that do not have the node among their own k nearest.
        approximate : bool, default=False
            Whether to search an HNSW index, which is faster for more than about 100,000 nodes, but
            misses some neighbors. Needs the extra "approximate", and cannot be combined with
            `mutual`. The share of neighbors that are found, measured on 1,000 nodes, is logged, and
            is part of the metadata "hopvec.neighbors" of the table. Nodes with a zero vector are
            nobody's neighbors. The index is built on all cores at once, so two runs may differ.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the amount of work done and
            the total.

        Returns
        -------
        pyarrow.Table
            The columns id, neighbor, similarity and rank, as for `nearest`.

        Raises
        ------
        ParameterError
            If a parameter is invalid, or `mutual` and `approximate` are combined.
        MissingExtraError
            If the extra "approximate" is needed and not installed.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa
        >>> vectors = np.float32([[1, 0], [2, 1], [0, 1]])
        >>> embedding = Embedding(vectors, pa.array(["ann", "bob", "cem"]))
        >>> embedding.nearest_all(1)["neighbor"].to_pylist()
        ['bob', 'ann', 'bob']
        >>> embedding.nearest_all(1, mutual=True)["neighbor"].to_pylist()
        ['bob', 'ann']
        """
        progress = callback(progress, "searching")
        search = self._neighbor_search(
            k,
            types=types,
            min_similarity=min_similarity,
            mutual=mutual,
            approximate=approximate,
        )
        return search.table(np.arange(len(self)), progress)

    def _neighbor_search(
        self,
        k: int = 10,
        *,
        among: Any = None,
        types: str | Sequence[str] | None = None,
        min_similarity: float = -1.0,
        mutual: bool = False,
        approximate: bool = False,
    ) -> NeighborSearch:
        """The search behind `nearest` and `nearest_all`, for results in batches.

        Parameters
        ----------
        k, among, types, min_similarity, mutual, approximate
            As in `nearest` and `nearest_all`.

        Returns
        -------
        NeighborSearch
            `batches(rows)` yields the neighbors of some rows as Arrow record batches.
        """
        others = among if isinstance(among, Embedding) else None
        candidates = None
        if others is None and among is not None:
            candidates = np.unique(self.find(among))
        if types is not None:
            known = self.types if others is None else others.types
            is_wanted = type_mask("nearest", known, types)
            rows = np.arange(len(is_wanted)) if candidates is None else candidates
            candidates = rows[is_wanted[rows]]
        return NeighborSearch(self, k, others, candidates, min_similarity, mutual, approximate)

    def nearest_rows(
        self,
        rows: Sequence[int] | NDArray[np.int64],
        k: int = 10,
        *,
        among: Sequence[int] | NDArray[np.int64] | None = None,
        progress: ProgressOption = None,
    ) -> Neighbors:
        """Find the nodes most similar to each of some rows, as arrays of row numbers.

        Parameters
        ----------
        rows : sequence of int
            The rows whose neighbors are searched.
        k : int, default=10
            The number of neighbors per row. A row is not its own neighbor, so there may be fewer.
        among : sequence of int, optional
            Distinct rows to search; by default all.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of rows done and
            the total.

        Returns
        -------
        Neighbors
            A named tuple of two arrays, `rows` and `similarities`, with one row for each of `rows`.
            If some rows have fewer neighbors than others, the missing row numbers are -1.

        Raises
        ------
        ParameterError
            If a row number is out of range.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa
        >>> vectors = np.float32([[1, 0], [2, 1], [0, 1]])
        >>> embedding = Embedding(vectors, pa.array(["ann", "bob", "cem"]))
        >>> embedding.nearest_rows([0, 1], 1).rows.tolist()
        [[1], [0]]
        """
        progress = callback(progress, "searching")
        candidates = None if among is None else self._numbers("among", among)
        search = NeighborSearch(self, k, candidates=candidates)
        return search.arrays(self._numbers("rows", rows), progress)

    def _numbers(self, name: str, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Row indices as an array. Raises ParameterError, since the kernel does not check them."""
        numbers = np.asarray(rows)
        if not numbers.size:
            return np.empty(0, dtype=np.int64)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise ParameterError(
                f"nearest_rows: {name} must be a list of row indices, got {_shown(rows)}."
            )
        wrong = (numbers < 0) | (numbers >= len(self))
        if wrong.any():
            raise ParameterError(
                f"nearest_rows: {name} must be among the {len(self):,} rows of this embedding, "
                f"counted from 0, got {numbers[np.argmax(wrong)]:,}."
            )
        return numbers.astype(np.int64, copy=False)

    @cached_property
    def _inverse_norms(self) -> NDArray[np.float32]:
        """1 / norm of every row, 0 for a zero vector. Raises ParameterError if not finite."""
        step = MAPPED_ROWS if file_map(self.vectors) is not None else max(1, len(self))
        parts = []
        for first in range(0, max(1, len(self)), step):
            rows = self.vectors[first : first + step]
            parts.append(
                interruptible(
                    lambda stop, rows=rows: _native.inverse_norms(rows, cores(), stop)  # type: ignore[misc]
                )
            )
            release_pages(rows)
        norms: NDArray[np.float32] = np.concatenate(parts)
        if np.isnan(norms).any():
            wrong = self.ids[int(np.argmax(np.isnan(norms)))].as_py()
            raise ParameterError(f"The vector of {wrong!r} contains a NaN or an infinity.")
        return norms

    @cached_property
    def _approximate_index(self) -> ApproximateIndex:
        """The index of approximate searches; the first search builds it."""
        return ApproximateIndex(self.vectors, self._inverse_norms)

    def to_arrow(self, *, as_list: bool = True) -> pa.Table:
        """Return the embedding as an Arrow table.

        The embedding itself can also be passed to libraries that read Arrow streams, such as
        `polars.DataFrame(embedding)` or a query of DuckDB.

        Parameters
        ----------
        as_list : bool, default=True
            Whether vectors are lists in the column "embedding", without a copy, as in a Parquet
            file. Otherwise each dimension is a column: e0, e1, ...

        Returns
        -------
        pyarrow.Table
            The column "id", the column "type" if nodes have types, and the vectors; the parameters
            are metadata of the schema.

        Examples
        --------
        >>> embedding = Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"]))
        >>> embedding.to_arrow().column_names
        ['id', 'embedding']
        >>> embedding.to_arrow(as_list=False).column_names
        ['id', 'e0', 'e1']
        """
        from hopvec.formats.frames import to_arrow

        return to_arrow(self, as_list)

    def to_pandas(self, *, index: bool = True, as_list: bool = False) -> pd.DataFrame:
        """Return the embedding as a pandas DataFrame.

        Parameters
        ----------
        index : bool, default=True
            Whether the ids are the index, ready for `join`; otherwise they are the column "id".
        as_list : bool, default=False
            Whether vectors are arrays in the column "embedding"; otherwise each dimension is a
            column: e0, e1, ...

        Returns
        -------
        pandas.DataFrame
            One row per node, with the column "type" if nodes have types.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.

        Examples
        --------
        >>> embedding = Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"]))
        >>> embedding.to_pandas().loc["bob"].tolist()
        [0.0, 1.0]
        """
        from hopvec.formats.frames import to_pandas

        return to_pandas(self, index, as_list)

    def to_polars(self, *, as_list: bool = False) -> pl.DataFrame:
        """Return the embedding as a polars DataFrame.

        Parameters
        ----------
        as_list : bool, default=False
            Whether vectors are arrays in the column "embedding"; otherwise each dimension is a
            column: e0, e1, ...

        Returns
        -------
        polars.DataFrame
            The column "id", the column "type" if nodes have types, and the vectors.

        Raises
        ------
        MissingExtraError
            If polars is not installed.

        Examples
        --------
        >>> embedding = Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"]))
        >>> embedding.to_polars().columns
        ['id', 'e0', 'e1']
        """
        from hopvec.formats.frames import to_polars

        return to_polars(self, as_list)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table of `to_arrow` as a stream, without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @staticmethod
    def from_arrow(table: Any) -> Embedding:
        """Create an embedding from a table of ids and vectors.

        Parameters
        ----------
        table : Table or DataFrame
            A table of pyarrow, polars, duckdb, or any other library that supports the Arrow C
            stream interface. The ids are in the column "id", or in the only column of integers or
            strings; the vectors are lists in one column, or one column of floats per dimension. A
            column "type" of strings holds the types of the nodes.

        Returns
        -------
        Embedding
            With the parameters that `to_arrow` stored in the metadata, if there are any.

        Raises
        ------
        FormatError
            If the columns cannot be identified, or a vector is missing or has another length.

        Examples
        --------
        >>> Embedding.from_arrow(pa.table({"id": ["ann", "bob"], "x": [0.5, 1], "y": [1.0, 2]}))
        Embedding(2 nodes, dim 2, unknown method)
        """
        from hopvec.formats.frames import from_arrow

        return from_arrow(table)

    @staticmethod
    def from_pandas(frame: pd.DataFrame) -> Embedding:
        """Create an embedding from a pandas DataFrame.

        Parameters
        ----------
        frame : pandas.DataFrame
            The ids are the index, unless it is the default one; else as in `from_arrow`.

        Returns
        -------
        Embedding
            Without parameters, which a DataFrame does not store.

        Raises
        ------
        FormatError
            If the columns cannot be identified, or a vector is missing or has another length.

        Examples
        --------
        >>> embedding = Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"]))
        >>> Embedding.from_pandas(embedding.to_pandas())["bob"].tolist()
        [0.0, 1.0]
        """
        from hopvec.formats.frames import from_pandas

        return from_pandas(frame)

    def _repr_html_(self) -> str:
        """The embedding in a notebook: its size and its first rows."""
        from hopvec.notebook import embedding_html

        return embedding_html(self)

    def save(
        self,
        path: str | PathLike[str],
        *,
        dtype: str = "float32",
        progress: ProgressOption = None,
    ) -> None:
        """Write the embedding to a file, atomically.

        Parameters
        ----------
        path : path-like
            The suffix determines the format: .parquet, .arrow, .npy (with the ids in a second
            file), .npz, .csv, .tsv, or .txt and .bin for word2vec. The first four store the
            parameters, too, and all but word2vec the types of nodes, in a column "type".
        dtype : {"float32", "float16"}, default="float32"
            "float16" halves the size; for the formats that store parameters.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of rows written
            and the total.

        Raises
        ------
        FormatError
            If the suffix is unknown, the format does not support the ids or `dtype`, or an id is
            null or repeated.

        Examples
        --------
        >>> import pathlib, tempfile, hopvec
        >>> path = pathlib.Path(tempfile.mkdtemp(), "vectors.parquet")
        >>> Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"])).save(path)
        >>> hopvec.load(path)
        Embedding(2 nodes, dim 2, unknown method)
        """
        from hopvec.formats import write_embedding

        progress = callback(progress, "writing")
        write_embedding(self, path, dtype=dtype, progress=progress)

    def export(
        self,
        target: str,
        *,
        table: str = "vectors",
        replace: bool = False,
        index: bool = False,
        progress: ProgressOption = None,
    ) -> int:
        """Write the embedding to a table of a vector store.

        Parameters
        ----------
        target : str
            Such as "postgresql://host/database", "duckdb:graph.db", "lancedb:directory",
            "qdrant:directory", "faiss:vectors.index" or "neo4j:directory", which gets a CSV file
            and a Cypher script.
        table : str, default="vectors"
            An existing table of this name is replaced if hopvec created it.
        replace : bool, default=False
            Whether to replace an existing table that hopvec did not create.
        index : bool, default=False
            Whether to create an HNSW index for cosine similarity, in PostgreSQL, FAISS and Neo4j.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of rows written
            and the total.

        Returns
        -------
        int
            The number of rows written.

        Raises
        ------
        ParameterError
            If the target is invalid, or the table exists and hopvec did not create it.
        MissingExtraError
            If the package of the vector store is not installed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> database = pathlib.Path(tempfile.mkdtemp(), "graph.db")
        >>> embedding = Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"]))
        >>> embedding.export(f"duckdb:{database}")
        2
        """
        from hopvec.stores import export

        progress = callback(progress, "writing")
        return export(self, target, table=table, replace=replace, index=index, progress=progress)

    @staticmethod
    def load(
        path: str | PathLike[str],
        *,
        memory: str | float | None = None,
        progress: ProgressOption = None,
    ) -> Embedding:
        """Read an embedding from a file; the same as `hopvec.load`.

        Parameters
        ----------
        path, memory, progress
            As in `hopvec.load`.

        Returns
        -------
        Embedding
            As from `hopvec.load`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "vectors.npy")
        >>> Embedding(np.eye(2, dtype="float32"), pa.array(["ann", "bob"])).save(path)
        >>> Embedding.load(path).ids.to_pylist()
        ['ann', 'bob']
        """
        from hopvec.formats import read_embedding

        progress = callback(progress, "reading")
        return read_embedding(path, progress=progress, memory_limit=memory_limit(memory))

    @cached_property
    def _order(self) -> NDArray[np.uint64] | None:
        """The rows in ascending order of their ids, or None if they are sorted already."""
        import pyarrow.compute as pc

        if len(self) < 2 or pc.all(pc.less(self.ids[:-1], self.ids[1:])).as_py():
            return None
        order: NDArray[np.uint64] = pc.sort_indices(self._distinct).to_numpy()
        return order

    @cached_property
    def _distinct(self) -> pa.Array:
        """The ids. Raises ParameterError if one occurs twice, since its row is ambiguous."""
        twice = first_duplicate(self.ids)
        if twice is not None:
            raise ParameterError(
                f"Embedding: the id {twice!r} occurs more than once, but ids must be unique."
            )
        return self.ids

    def _comparable(self, id: object) -> Any:
        """An id as Arrow sorts it: UTF-8 bytes or an integer; None if its type is wrong."""
        if pa.types.is_integer(self.ids.type):
            if isinstance(id, bool) or not isinstance(id, int | np.integer):
                return None
            return int(id)
        return id.encode(errors="surrogatepass") if isinstance(id, str) else None

    def _same_kind(self, other: pa.DataType) -> bool:
        """Whether values of this Arrow type can be ids of this embedding: 7 is not "7"."""
        other = other.value_type if pa.types.is_dictionary(other) else other
        is_string = str(other) in ("string", "large_string", "string_view", "null")
        return pa.types.is_integer(other) if pa.types.is_integer(self.ids.type) else is_string

    def _unknown(self, id: object) -> UnknownNodeError:
        if self._comparable(id) is None:
            kind = "integers" if pa.types.is_integer(self.ids.type) else "strings"
            return UnknownNodeError(f"No node {_shown(id)}: the ids of this embedding are {kind}.")
        message = f"No node {_shown(id)} among the {len(self):,} of this embedding."
        if isinstance(id, str) and (close := self._similar_ids(id)):
            message += " Did you mean " + " or ".join(repr(name) for name in close) + "?"
        return UnknownNodeError(message)

    def _similar_ids(self, id: str) -> list[str]:
        """At most three similar ids, ignoring case, most likely first."""
        import pyarrow.compute as pc

        wanted = id.encode(errors="ignore").decode().lower()  # drops half a surrogate pair
        if not wanted:
            return []
        names = pc.utf8_lower(self.ids)
        found = [name for name in (f"{id}.0", id.removesuffix(".0"), id.strip()) if name in self]
        for matches in (
            pc.equal(names, wanted),
            pc.starts_with(names, wanted),
            pc.match_substring(names, wanted),
        ):
            if len(found) < MAX_SUGGESTIONS:
                found += _shortest(self.ids.filter(matches))
                found = list(dict.fromkeys(found))
        if not found:
            found = _close(wanted, self.ids.filter(pc.starts_with(names, wanted[:2])))
        return found[:MAX_SUGGESTIONS]


def _shortest(ids: pa.Array) -> list[str]:
    """The shortest of some ids, in their order."""
    import pyarrow.compute as pc

    order = np.argsort(pc.utf8_length(ids).to_numpy(zero_copy_only=False), kind="stable")
    names: list[str] = ids.take(pa.array(order[:MAX_SUGGESTIONS])).to_pylist()
    return names


def _close(wanted: str, ids: pa.Array) -> list[str]:
    """The ids that differ from a string by few letters."""
    import difflib

    names = {name.lower(): name for name in ids.slice(0, 20_000).to_pylist()}
    return [names[name] for name in difflib.get_close_matches(wanted, names, n=MAX_SUGGESTIONS)]


def _checked_vectors(vectors: Any) -> NDArray[np.float32]:
    """Vectors as a contiguous float32 array, copied only if they are not."""
    if hasattr(vectors, "mask"):
        raise ParameterError("Embedding: vectors must not be a masked array.")
    if type(vectors) in (np.ndarray, np.memmap) and vectors.dtype == np.float32:
        return vectors if vectors.flags.c_contiguous else np.ascontiguousarray(vectors)
    try:
        numbers = np.asarray(vectors)
    except ValueError as error:
        raise ParameterError(f"Embedding: vectors are not an array ({error}).") from error
    if numbers.dtype.kind not in "fiub":
        raise ParameterError(f"Embedding: vectors must be real numbers, got {numbers.dtype}.")
    with np.errstate(over="ignore"):  # writers refuse infinity
        return np.asarray(numbers, dtype=np.float32, order="C")


def _checked_ids(ids: Any) -> pa.Array:
    """Ids as an Arrow array of int64 or large_string, copied only if they are not."""
    if isinstance(ids, pa.Int64Array | pa.LargeStringArray):
        return ids
    try:
        found = as_ids(ids, "ids")
    except GraphError as error:
        raise ParameterError(f"Embedding: {error}") from error
    return found if isinstance(found, pa.Array) else arrow_view(found.astype(np.int64))


def _listed(ids: Any) -> list[Any]:
    """The ids of any column; a value that is not a column stands for itself."""
    try:
        return [id.as_py() if isinstance(id, pa.Scalar) else id for id in ids]
    except TypeError:
        return [ids]


def is_one_id(ids: Any) -> bool:
    """Whether a value is a single id and not a list or an array of ids."""
    return isinstance(ids, str | bytes | int | float | np.generic) or ids is None


def _shown(id: object) -> str:
    """An id for a message; anything else, such as a vector, is truncated."""
    text = repr(id)
    return text if isinstance(id, str) or len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 4]} ..."


def load(
    path: str | PathLike[str],
    *,
    memory: str | float | None = None,
    progress: ProgressOption = None,
) -> Embedding:
    """Read an embedding from a file that `Embedding.save` or another program wrote.

    Parameters
    ----------
    path : path-like
        A file in one of the formats of `Embedding.save`.
    memory : str or number, optional
        The memory limit of the vectors, such as "4GB". If they exceed it, they are memory-mapped
        from a temporary file. Ignored for .npz and binary word2vec, which are read into memory, and
        for .npy: float32 vectors are memory-mapped in any case, others are read into memory.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the amount read and the total.

    Returns
    -------
    Embedding
        The vectors are float32; those of an .npy file of more than 16 MB stay on disk until they
        are accessed, so the file must not change meanwhile.

    Raises
    ------
    FormatError
        If the file cannot be read as an embedding.

    Examples
    --------
    >>> import hopvec, pathlib, tempfile
    >>> graph = hopvec.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vectors.parquet")
    >>> hopvec.FastRP(dim=8, seed=7).embed(graph).save(path)
    >>> hopvec.load(path)
    Embedding(3 nodes, dim 8, FastRP)
    """
    progress = callback(progress, "reading")
    return Embedding.load(path, memory=memory, progress=progress)
