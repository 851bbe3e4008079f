"""Labels: which nodes are in which classes."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import as_ids, first_missing

if TYPE_CHECKING:
    import scipy.sparse as sp

    from hopvec.embedding import Embedding
    from hopvec.graph import Graph

logger = logging.getLogger("hopvec")

FEW = 0.01  # the share of labeled nodes with a vector below which the ids hardly match
MAX_LISTED = 3  # ids without a vector that are named


class LabeledRows(NamedTuple):
    """The labeled nodes of an embedding, in ascending order of their ids."""

    rows: NDArray[np.int64]
    """Rows of the embedding."""
    members: NDArray[np.bool_]
    """[rows, classes]: the classes that each of them is in, at least one."""
    classes: tuple[str, ...]
    """The names of the classes that have a member among them."""
    without_vector: int
    """Labeled nodes that the embedding does not have."""
    mismatch: str = ""
    """A sentence on ids that hardly ever match: they may be those of another column."""


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Labels of nodes: row i of `matrix` belongs to ids[i], column j to classes[j]."""

    ids: pa.Array
    """Each id once, in any order."""
    matrix: sp.csr_array
    """[nodes, classes], True where a node is in a class; an empty row is a node without a label."""
    classes: tuple[str, ...]
    """The names of the classes."""
    origin: dict[str, Any] = field(default_factory=dict)
    """How the file was understood that they were read from."""

    def __post_init__(self) -> None:
        if self.matrix.shape != (len(self.ids), len(self.classes)):
            raise ParameterError(
                f"Labels: the matrix must have a row an id and a column a class: "
                f"{len(self.ids):,} x {len(self.classes):,}, got {self.matrix.shape}."
            )

    @staticmethod
    def from_pairs(ids: Any, labels: Any, *, separator: str | None = None) -> Labels:
        """Labels from two columns of equal length: the node ids[i] has the label labels[i].

        A node may come several times, with a label each, or labels[i] is a list, or a text with a
        separator between labels. Labels are texts or integers; a null or an empty text is none.

        >>> Labels.from_pairs(["ann", "bob", "ann", "cem"], ["red", "red", "blue", None])
        Labels(3 nodes, 2 of them labeled, 2 classes, 1.5 labels each)
        """
        nodes = pa.array(as_ids(ids, "ids"))
        if (empty := first_missing(nodes)) is not None:
            raise GraphError(f"ids, entry {empty + 1:,}: the id is empty.")
        values = label_array(labels)
        if len(nodes) != len(values):
            raise ParameterError(
                f"Labels: every id needs a label, or null; got {len(nodes):,} ids and "
                f"{len(values):,} labels."
            )
        return _from_columns(*_one_label_each(nodes, values, separator))

    @property
    def labeled(self) -> int:
        """The number of nodes that have a label."""
        return int(np.count_nonzero(np.diff(self.matrix.indptr)))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Labels({len(self):,} nodes, {self.summary()})"

    def summary(self) -> str:
        """How many labeled nodes, classes and labels there are, in words."""
        often = labels_per_node(self.matrix.nnz / max(1, self.labeled))
        return f"{self.labeled:,} of them labeled, {len(self.classes):,} classes, {often}"

    def align(self, embedding: Embedding | Graph) -> LabeledRows:
        """The labeled nodes that an embedding, or a graph, has, in ascending order of their ids.

        Where one side has integers for ids and the other texts, 7 and "7" are the same node.
        Labeled nodes without a vector are counted and told in a warning, which says how both are
        called where hardly any has one. Raises ParameterError if none has a vector.
        """
        import pyarrow.compute as pc

        labeled = np.flatnonzero(np.diff(self.matrix.indptr))
        if len(labeled) == 0:
            raise ParameterError("Labels: no node has a label.")
        wanted = self.ids.take(pa.array(labeled))
        known = embedding.ids
        if pa.types.is_integer(wanted.type) != pa.types.is_integer(known.type):
            wanted, known = wanted.cast(pa.large_string()), known.cast(pa.large_string())
        found = pc.index_in(wanted.cast(known.type), value_set=known)
        lacking = wanted.filter(found.is_null())
        mismatch = _tell(lacking, len(wanted), embedding) if len(lacking) else ""
        order = pc.sort_indices(wanted).to_numpy()
        rows = found.take(pa.array(order)).to_numpy(zero_copy_only=False)
        present = ~np.isnan(rows) if rows.dtype.kind == "f" else np.ones(len(rows), bool)
        members = self.matrix[labeled[order[present]]].toarray()
        used = members.any(axis=0)
        return LabeledRows(
            rows[present].astype(np.int64),
            members[:, used],
            tuple(name for name, use in zip(self.classes, used, strict=True) if use),
            len(lacking),
            mismatch,
        )


def _tell(lacking: pa.Array, of: int, embedding: Embedding | Graph) -> str:
    """Tells of labeled nodes without a vector; refuses to go on if all of them are.

    Comes back with what it told if hardly any has one, else with an empty text.
    """
    first = ", ".join(repr(id_) for id_ in lacking[:MAX_LISTED].to_pylist())
    first += ", ..." if len(lacking) > MAX_LISTED else ""
    found = of - len(lacking)
    if found >= FEW * of:
        left = f"Labeled nodes without a vector, {len(lacking):,} of {of:,}, are left out: {first}."
        logger.warning("%s", left)
        return ""
    own = ", ".join(repr(id_) for id_ in embedding.ids[:MAX_LISTED].to_pylist())
    few = f"Only {found:,}" if found else "None"
    has = "have" if found > 1 else "has"
    mismatch = (
        f"{few} of the {of:,} labeled nodes {has} a vector: they are called {first}, the nodes of "
        f"the embedding {own}, ... Name the column of the ids."
    )
    if not found:
        raise ParameterError(mismatch)
    logger.warning("%s", mismatch)
    return mismatch


def labels_per_node(often: float) -> str:
    """How many labels a labeled node has, in words.

    >>> labels_per_node(1.0), labels_per_node(1.4012)
    ('one label each', '1.4 labels each')
    """
    return "one label each" if often == 1 else f"{often:.3g} labels each"


def _from_columns(ids: pa.Array, names: pa.Array) -> Labels:
    """Labels of ids and the names of their classes, equally many; null or "" is no class."""
    import pyarrow.compute as pc
    import scipy.sparse as sp

    nodes = pc.dictionary_encode(ids)
    given = pc.fill_null(pc.not_equal(names, ""), False)
    listed = parse_integer_ids(names.filter(given).unique())
    listed = listed.take(pc.sort_indices(listed)).cast(names.type)
    shape = len(nodes.dictionary), len(listed)
    row = nodes.indices.filter(given).to_numpy()
    at = pc.index_in(names.filter(given), value_set=listed).to_numpy()
    matrix = sp.csr_array((np.ones(len(row), bool), (row, at)), shape=shape)
    matrix.sum_duplicates()
    return Labels(nodes.dictionary, matrix, tuple(listed.to_pylist()))


def _one_label_each(
    ids: pa.Array, labels: pa.Array, separator: str | None
) -> tuple[pa.Array, pa.Array]:
    """Ids and labels such that a label is one text; a node with several comes several times."""
    import pyarrow.compute as pc

    if separator is not None and pa.types.is_large_string(labels.type):
        labels = pc.split_pattern(pc.fill_null(labels, ""), separator)
    if not _is_list(labels.type):
        return ids, _texts(labels)
    texts = _texts(labels.flatten())
    texts = texts if separator is None else pc.utf8_trim_whitespace(texts)
    return ids.take(pc.list_parent_indices(labels)), texts


def _is_list(kind: pa.DataType) -> bool:
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_this(kind) for is_this in lists)


def label_array(labels: Any) -> pa.Array:
    """A column of labels of any kind as one array; texts are large_string."""
    try:
        values = pa.array(labels, from_pandas=True)
    except (pa.ArrowException, TypeError) as error:
        raise ParameterError(
            f"Labels: labels must be all texts or all integers ({error})."
        ) from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    texts = str(values.type) in ("string", "string_view", "null")
    return values.cast(pa.large_string()) if texts else values


def _texts(labels: pa.Array) -> pa.Array:
    """Labels as texts; numbers must be whole ones."""
    if pa.types.is_floating(labels.type):  # integers of pandas beside missing ones
        try:
            labels = labels.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ParameterError(
                f"Labels: labels must be texts or integers, and these are numbers ({error})."
            ) from error
    try:
        return labels.cast(pa.large_string())
    except pa.ArrowException as error:
        raise ParameterError(
            f"Labels: labels must be texts or integers, got {labels.type}."
        ) from error
