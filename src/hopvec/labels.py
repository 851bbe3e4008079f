"""Labels: the classes of nodes."""

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

logger: logging.Logger = logging.getLogger("hopvec")

MIN_MATCHING = 0.01  # share of labeled nodes with a vector, below which the ids seem not to match
MAX_LISTED = 3  # ids without a vector in a message


class LabeledRows(NamedTuple):
    """The labeled nodes of an embedding, in ascending order of their ids."""

    rows: NDArray[np.int64]
    """Their rows in the embedding."""
    members: NDArray[np.bool_]
    """[rows, classes]: mask of the classes of each row, at least one."""
    classes: tuple[str, ...]
    """The names of the classes that occur."""
    without_vector: int
    """The number of labeled nodes that are not in the embedding."""
    nodes: NDArray[np.int64]
    """Their rows in the labels."""
    mismatch: str = ""
    """A warning if hardly any id matches: they may come from another column."""


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Labels of nodes: the classes that each node belongs to.

    Create labels with `from_pairs` or `read_labels`. Row i of `matrix` belongs to `ids[i]`, column
    j to `classes[j]`; a node may have no label, one label, or several. `len(labels)` is the number
    of nodes.

    Attributes
    ----------
    ids : pyarrow.Array
        The ids of the nodes, each once, in any order.
    matrix : scipy.sparse.csr_array of bool, shape (nodes, classes)
        True if a node is in a class; an empty row is a node without a label.
    classes : tuple of str
        The names of the classes.
    origin : dict
        How the file was read, if the labels come from a file.

    Examples
    --------
    >>> from hopvec import Labels
    >>> labels = Labels.from_pairs(["ann", "bob", "cem"], ["red", "blue", "red"])
    >>> labels.classes, len(labels)
    (('blue', 'red'), 3)
    """

    ids: pa.Array
    matrix: sp.csr_array
    classes: tuple[str, ...]
    origin: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.matrix.shape != (len(self.ids), len(self.classes)):
            raise ParameterError(
                f"Labels: the matrix must have one row per id and one column per class: "
                f"{len(self.ids):,} x {len(self.classes):,}, got {self.matrix.shape}."
            )

    @staticmethod
    def from_pairs(ids: Any, labels: Any, *, separator: str | None = None) -> Labels:
        """Create labels from two columns of equal length.

        Node ids[i] has the label labels[i].

        Parameters
        ----------
        ids : array-like of int or str
            A node may occur several times, each time with another label.
        labels : array-like of str, int or list
            A null or an empty string is no label; a list holds several labels.
        separator : str, optional
            Separates several labels in one string.

        Returns
        -------
        Labels
            Each node once, with all its labels.

        Raises
        ------
        GraphError
            If an id is invalid.
        ParameterError
            If the columns differ in length, or labels are neither strings nor integers.

        Examples
        --------
        >>> Labels.from_pairs(["ann", "bob", "ann", "cem"], ["red", "red", "blue", None])
        Labels(3 nodes, 2 of them labeled, 2 classes, 1.5 labels each)
        """
        nodes = pa.array(as_ids(ids, "ids"))
        if (empty := first_missing(nodes)) is not None:
            raise GraphError(f"ids, entry {empty + 1:,}: the id is empty.")
        values = label_array(labels)
        if len(nodes) != len(values):
            raise ParameterError(
                f"Labels: every id needs a label or null, got {len(nodes):,} ids and "
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
        return f"Labels({len(self):,} nodes, {self._summary()})"

    def _summary(self) -> str:
        """The number of labeled nodes, classes and labels per node, in words."""
        each = labels_per_node(self.matrix.nnz / max(1, self.labeled))
        return f"{self.labeled:,} of them labeled, {len(self.classes):,} classes, {each}"

    def align(self, embedding: Embedding | Graph, *, name: str | None = None) -> LabeledRows:
        """Match the labels with the rows of an embedding or the nodes of a graph.

        If one side has integer ids and the other strings, 7 and "7" are the same node. A warning
        reports labeled nodes without a vector, with examples of both kinds of ids if hardly any
        match.

        Parameters
        ----------
        embedding : Embedding or Graph
            The rows or nodes to match by id.
        name : str, optional
            The name of the embedding in warnings and errors, if there are several.

        Returns
        -------
        LabeledRows
            A named tuple of the labeled nodes that have a vector, in ascending order of their ids:
            `rows` in the embedding, the mask `members` of shape (rows, classes), the names of the
            `classes`, and the number of labeled nodes `without_vector`.

        Raises
        ------
        ParameterError
            If no labeled node has a vector.

        Examples
        --------
        >>> from hopvec import Graph
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cem"])
        >>> labeled = Labels.from_pairs(["cem", "ann"], ["red", "blue"]).align(graph)
        >>> labeled.rows.tolist(), labeled.members.tolist(), labeled.classes
        ([0, 2], [[True, False], [False, True]], ('blue', 'red'))
        """
        import pyarrow.compute as pc

        labeled = np.flatnonzero(np.diff(self.matrix.indptr))
        if len(labeled) == 0:
            raise ParameterError("Labels: no node has a label.")
        wanted = self.ids.take(pa.array(labeled))
        ids = embedding.ids
        if pa.types.is_integer(wanted.type) != pa.types.is_integer(ids.type):
            wanted, ids = wanted.cast(pa.large_string()), ids.cast(pa.large_string())
        found = pc.index_in(wanted.cast(ids.type), value_set=ids)
        missing = wanted.filter(found.is_null())
        of = "" if name is None else f"{name}: "
        mismatch = _warn_about_missing(missing, len(wanted), embedding, of) if len(missing) else ""
        order = pc.sort_indices(wanted).to_numpy()
        rows = found.take(pa.array(order)).to_numpy(zero_copy_only=False)
        present = ~np.isnan(rows) if rows.dtype.kind == "f" else np.ones(len(rows), bool)
        nodes = labeled[order[present]]
        members = self.matrix[nodes].toarray()
        used = members.any(axis=0)
        return LabeledRows(
            rows[present].astype(np.int64),
            members[:, used],
            tuple(name for name, use in zip(self.classes, used, strict=True) if use),
            len(missing),
            nodes,
            mismatch,
        )


def _warn_about_missing(
    missing: pa.Array, total: int, embedding: Embedding | Graph, of: str
) -> str:
    """Warn about labeled nodes without a vector; raise ParameterError if none has one.

    Messages start with `of`. Returns the warning if hardly any node has a vector, otherwise an
    empty string.
    """
    first = ", ".join(repr(id_) for id_ in missing[:MAX_LISTED].to_pylist())
    first += ", ..." if len(missing) > MAX_LISTED else ""
    found = total - len(missing)
    if found >= MIN_MATCHING * total:
        logger.warning(
            "%sIgnoring %s of %s labeled nodes, which have no vector: %s.",
            of,
            f"{len(missing):,}",
            f"{total:,}",
            first,
        )
        return ""
    own = ", ".join(repr(id_) for id_ in embedding.ids[:MAX_LISTED].to_pylist())
    count = f"Only {found:,}" if found else "None"
    has = "have" if found > 1 else "has"
    mismatch = (
        f"{of}{count} of the {total:,} labeled nodes {has} a vector. Their ids are {first}, those "
        f"of the embedding {own}, ... Choose another id column with id_column=."
    )
    if not found:
        raise ParameterError(mismatch)
    logger.warning("%s", mismatch)
    return mismatch


def labels_per_node(mean: float) -> str:
    """The number of labels per labeled node, in words.

    >>> labels_per_node(1.0), labels_per_node(1.4012)
    ('one label each', '1.4 labels each')
    """
    return "one label each" if mean == 1 else f"{mean:.3g} labels each"


def _from_columns(ids: pa.Array, names: pa.Array) -> Labels:
    """Labels from ids and class names of the same length; null or "" is no class."""
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
    """Ids and labels with one label per entry; a node with several labels occurs several times."""
    import pyarrow.compute as pc

    if separator is not None and pa.types.is_large_string(labels.type):
        labels = pc.split_pattern(pc.fill_null(labels, ""), separator)
    if not _is_list(labels.type):
        return ids, _strings(labels)
    strings = _strings(labels.flatten())
    strings = strings if separator is None else pc.utf8_trim_whitespace(strings)
    return ids.take(pc.list_parent_indices(labels)), strings


def _is_list(kind: pa.DataType) -> bool:
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_this(kind) for is_this in lists)


def label_array(labels: Any) -> pa.Array:
    """A column of labels as one array; strings become large_string."""
    try:
        values = pa.array(labels, from_pandas=True)
    except (pa.ArrowException, TypeError) as error:
        raise ParameterError(
            f"Labels: labels must be all strings or all integers ({error})."
        ) from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    strings = str(values.type) in ("string", "string_view", "null")
    return values.cast(pa.large_string()) if strings else values


def _strings(labels: pa.Array) -> pa.Array:
    """Labels as strings; numbers must be integers."""
    if pa.types.is_floating(labels.type):  # pandas converts integers with missing values
        try:
            labels = labels.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ParameterError(
                f"Labels: labels must be strings or integers, got other numbers ({error})."
            ) from error
    try:
        return labels.cast(pa.large_string())
    except pa.ArrowException as error:
        raise ParameterError(
            f"Labels: labels must be strings or integers, got {labels.type}."
        ) from error
