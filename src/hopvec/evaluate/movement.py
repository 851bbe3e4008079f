"""Movement: how far the nodes moved between two comparable embeddings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.fitted import FittedState
from hopvec.errors import ParameterError
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.tabular import Tabular

logger: logging.Logger = logging.getLogger("hopvec")
MAX_LISTED = 5  # nodes in the repr of a Movement
BLOCK_ROWS = 1 << 14  # vectors that are compared together


@dataclass(frozen=True, repr=False)
class Movement(Tabular):
    """The result of `movement`: the nodes of both embeddings, those that moved most first.

    Attributes
    ----------
    ids : pyarrow.Array
        The ids of the nodes in both embeddings.
    cosines : numpy.ndarray
        The cosine of the two vectors of each node, ascending; 1 if both vectors are zero, 0 if one
        of them is.
    removed : int
        Number of nodes in the first embedding only.
    added : int
        Number of nodes in the second embedding only.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> old = FastRP(dim=8).embed(Graph.from_edges(["a", "a", "b"], ["b", "c", "c"]))
    >>> later = Graph.from_edges(["a", "a", "b", "c"], ["b", "c", "c", "d"])
    >>> new = FastRP(dim=8).embed(later, like=old)
    >>> moved = evaluate.movement(old, new)
    >>> len(moved.ids), moved.removed, moved.added
    (3, 0, 1)
    """

    ids: pa.Array
    cosines: NDArray[np.float32]
    removed: int
    added: int

    def _table_rows(self) -> list[dict[str, Any]]:
        pairs = zip(self.ids.to_pylist(), self.cosines.tolist(), strict=True)
        return [{"id": id, "cosine": cosine} for id, cosine in pairs]

    def to_arrow(self) -> pa.Table:
        """Return the nodes and their cosines as an Arrow table.

        Returns
        -------
        pyarrow.Table
            The columns "id" and "cosine", in the order of `ids`.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, evaluate
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> old = FastRP(dim=8).embed(graph)
        >>> evaluate.movement(old, FastRP(dim=8).embed(graph, like=old)).to_arrow().num_rows
        3
        """
        return pa.table({"id": self.ids, "cosine": self.cosines})

    def _caption(self) -> str:
        return f"{len(self.ids):,} nodes in both, {self.removed:,} removed, {self.added:,} added"

    def __repr__(self) -> str:
        first = zip(self.ids[:MAX_LISTED].to_pylist(), self.cosines[:MAX_LISTED], strict=True)
        moved = ", ".join(f"{id!r} {cosine:.4f}" for id, cosine in first)
        more = ", ..." if len(self.ids) > MAX_LISTED else ""
        return f"Movement({self._caption()}; lowest cosines: {moved or 'none'}{more})"


def movement(old: Embedding, new: Embedding) -> Movement:
    """Measure how far each node moved between two comparable embeddings.

    Embed the second graph with `like=` the first embedding, so that their columns are aligned.

    Parameters
    ----------
    old, new : Embedding
        Two embeddings, the second made with `like=old`. A warning is logged if it was not.

    Returns
    -------
    Movement
        The cosine of the two vectors of each node. Ties are in the order of the ids of `old`.

    Raises
    ------
    ParameterError
        If the vectors cannot be compared because their dimension, the type of their ids, or their
        recorded parameters or features differ.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> old = FastRP(dim=8).embed(graph)
    >>> new = FastRP(dim=8).embed(graph, like=old)
    >>> evaluate.movement(old, new).cosines.round(3).tolist()
    [1.0, 1.0, 1.0]
    """
    import pyarrow.compute as pc

    if old.dim != new.dim or old.ids.type != new.ids.type:
        raise ParameterError(
            f"These vectors cannot be compared: {old.dim} columns and ids of type {old.ids.type}, "
            f"{new.dim} columns and ids of type {new.ids.type}. Embed the second graph with like=."
        )
    _require_same_parameters(old.parameters, new.parameters)
    before, after = old.fitted_state, new.fitted_state
    if before and after and _features(before) != _features(after):
        raise ParameterError(
            "These vectors cannot be compared: their features differ. Embed the second graph with "
            "like=."
        )
    if before and after and not _same_alignment(before, after):
        logger.warning(
            "The second embedding was not aligned with the first by like=, so most of the movement "
            "may be due to columns of other signs, orders and scales."
        )
    rows = pc.index_in(old.ids, value_set=new.ids)
    here = np.flatnonzero(rows.is_valid().to_numpy(zero_copy_only=False))
    there = rows.drop_null().to_numpy()
    products = np.empty(len(here), np.float32)
    for start in range(0, len(here), BLOCK_ROWS):  # the vectors may be as large as the memory
        rows_here, rows_there = (rows[start : start + BLOCK_ROWS] for rows in (here, there))
        products[start : start + BLOCK_ROWS] = np.einsum(
            "ij,ij->i", old.vectors[rows_here], new.vectors[rows_there]
        )
    products *= old._inverse_norms[here] * new._inverse_norms[there]
    neither = (old._inverse_norms[here] == 0) & (new._inverse_norms[there] == 0)
    cosines = np.where(neither, np.float32(1), np.clip(products, -1, 1)).astype(np.float32)
    order = np.argsort(cosines, kind="stable")
    ids = old.ids.take(pa.array(here[order]))
    return Movement(ids, cosines[order], len(old) - len(here), len(new) - len(there))


def _same_alignment(one: FittedState, other: FittedState) -> bool:
    """Whether two runs used the same R, 2m and column statistics."""
    if (one.sparsity, one.volume) != (other.sparsity, other.volume):
        return False
    first, second = one.statistics.columns, other.statistics.columns
    if first is None or second is None:
        return first is second
    return np.array_equal(first.mean, second.mean) and np.array_equal(first.factor, second.factor)


def _features(fitted_state: FittedState) -> list[str]:
    return fitted_state.features.kinds if fitted_state.features else []


def _require_same_parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raise ParameterError for the first recorded parameter that differs."""
    for name in sorted(old.keys() & new.keys() - set(RUNTIME_PARAMS)):
        if old[name] != new[name]:
            raise ParameterError(
                f"These vectors cannot be compared: {name} is {old[name]!r} in the first and "
                f"{new[name]!r} in the second. Embed the second graph with like=."
            )
