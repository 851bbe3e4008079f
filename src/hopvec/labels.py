"""Labels: which nodes are in which classes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import ParameterError
from hopvec.graph.dictionary import integers_if_all
from hopvec.graph.ids import column

if TYPE_CHECKING:
    import scipy.sparse as sp

    from hopvec.embedding import Embedding

logger = logging.getLogger("hopvec")

TOLD = 3  # ids without a vector that are named


class LabelledRows(NamedTuple):
    """The labelled nodes of an embedding, in ascending order of their ids."""

    rows: NDArray[np.int64]
    """Rows of the embedding."""
    members: NDArray[np.bool_]
    """[rows, classes]: the classes that each of them is in, at least one."""
    classes: tuple[str, ...]
    """The names of the classes that have a member among them."""
    without_vector: int
    """Labelled nodes that the embedding does not have."""


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
    def from_pairs(ids: Any, labels: Any) -> Labels:
        """Labels from two columns of equal length: the node ids[i] has the label labels[i].

        A node may come several times, with a label each. Labels are texts or integers; a null or
        an empty text is none.

        >>> Labels.from_pairs(["ann", "bob", "ann", "cem"], ["red", "red", "blue", None])
        Labels(3 nodes, 2 of them labelled, 2 classes, 1.5 labels a node)
        """
        nodes = column(ids, "ids")
        names = _names(labels)
        if len(nodes) != len(names):
            raise ParameterError(
                f"Labels: every id needs one label, or null; got {len(nodes):,} ids and "
                f"{len(names):,} labels."
            )
        return _from_columns(pa.array(nodes), names)

    @property
    def labelled(self) -> int:
        """The number of nodes that have a label."""
        return int(np.count_nonzero(np.diff(self.matrix.indptr)))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        often = self.matrix.nnz / max(1, self.labelled)
        return (
            f"Labels({len(self):,} nodes, {self.labelled:,} of them labelled, "
            f"{len(self.classes):,} classes, {often:.3g} labels a node)"
        )

    def align(self, embedding: Embedding) -> LabelledRows:
        """The labelled nodes that an embedding has, in ascending order of their ids.

        Where one side has integers for ids and the other texts, 7 and "7" are the same node.
        Labelled nodes without a vector are counted and told in a warning. Raises ParameterError if
        none has a vector.
        """
        import pyarrow.compute as pc

        labelled = np.flatnonzero(np.diff(self.matrix.indptr))
        if len(labelled) == 0:
            raise ParameterError("Labels: no node has a label.")
        wanted = self.ids.take(pa.array(labelled))
        known = embedding.ids
        if pa.types.is_integer(wanted.type) != pa.types.is_integer(known.type):
            wanted, known = wanted.cast(pa.large_string()), known.cast(pa.large_string())
        found = pc.index_in(wanted.cast(known.type), value_set=known)
        lacking = wanted.filter(found.is_null())
        if len(lacking):
            self._tell(lacking, len(wanted), embedding)
        order = pc.sort_indices(wanted).to_numpy()
        rows = found.take(pa.array(order)).to_numpy(zero_copy_only=False)
        present = ~np.isnan(rows) if rows.dtype.kind == "f" else np.ones(len(rows), bool)
        members = self.matrix[labelled[order[present]]].toarray()
        used = members.any(axis=0)
        return LabelledRows(
            rows[present].astype(np.int64),
            members[:, used],
            tuple(name for name, use in zip(self.classes, used, strict=True) if use),
            len(lacking),
        )

    def _tell(self, lacking: pa.Array, of: int, embedding: Embedding) -> None:
        """Tells of labelled nodes without a vector; refuses to go on if all of them are."""
        first = ", ".join(repr(id_) for id_ in lacking[:TOLD].to_pylist())
        first += ", ..." if len(lacking) > TOLD else ""
        if len(lacking) == of:
            own = ", ".join(repr(id_) for id_ in embedding.ids[:TOLD].to_pylist())
            raise ParameterError(
                f"None of the {of:,} labelled nodes has a vector: they are called {first}, the "
                f"nodes of the embedding {own}, ... Name the column of the ids."
            )
        logger.warning(
            "%s of %s labelled nodes have no vector and are left out: %s.",
            f"{len(lacking):,}",
            f"{of:,}",
            first,
        )


def _from_columns(ids: pa.Array, names: pa.Array) -> Labels:
    """Labels of ids and the names of their classes, equally many; null or "" is no class."""
    import pyarrow.compute as pc
    import scipy.sparse as sp

    nodes = pc.dictionary_encode(ids)
    given = pc.fill_null(pc.not_equal(names, ""), False)
    listed = integers_if_all(names.filter(given).unique())
    listed = listed.take(pc.sort_indices(listed)).cast(names.type)
    shape = len(nodes.dictionary), len(listed)
    row = nodes.indices.filter(given).to_numpy()
    at = pc.index_in(names.filter(given), value_set=listed).to_numpy()
    matrix = sp.csr_array((np.ones(len(row), bool), (row, at)), shape=shape)
    matrix.sum_duplicates()
    return Labels(nodes.dictionary, matrix, tuple(listed.to_pylist()))


def _names(labels: Sequence[Any] | pa.Array) -> pa.Array:
    """Labels of any kind as texts."""
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
    if pa.types.is_floating(values.type):  # integers of pandas beside missing ones
        try:
            values = values.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ParameterError(
                f"Labels: labels must be texts or integers, and these are numbers ({error})."
            ) from error
    return values.cast(pa.large_string())
