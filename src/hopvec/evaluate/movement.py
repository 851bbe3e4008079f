"""Movement: how far the vectors of the same nodes lie apart in two comparable embeddings."""

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

logger = logging.getLogger("hopvec")
SHOWN = 5  # nodes that stand in the representation of a Movement


@dataclass(frozen=True, repr=False)
class Movement:
    """The nodes that two embeddings share, those that moved most first."""

    ids: pa.Array
    cosines: NDArray[np.float32]
    """Of the two vectors of each node, ascending; 1 for two zero vectors, 0 for one of them."""
    removed: int
    """Nodes of the first embedding that the second has not."""
    added: int
    """Nodes of the second embedding that the first has not."""

    def __repr__(self) -> str:
        first = zip(self.ids[:SHOWN].to_pylist(), self.cosines[:SHOWN], strict=True)
        moved = ", ".join(f"{id!r} {cosine:.4f}" for id, cosine in first)
        more = ", ..." if len(self.ids) > SHOWN else ""
        return (
            f"Movement({len(self.ids):,} nodes in both, {self.removed:,} removed, "
            f"{self.added:,} added; cosines from the least: {moved or 'none'}{more})"
        )


def movement(old: Embedding, new: Embedding) -> Movement:
    """How far each node moved from one embedding to another that was made like it.

    Ties are in the order of the ids of `old`. Raises ParameterError if the vectors cannot be
    compared: other numbers of columns, ids of another kind, or, where both tell of them, other
    parameters or features.
    """
    import pyarrow.compute as pc

    if old.dim != new.dim or old.ids.type != new.ids.type:
        raise ParameterError(
            f"These vectors cannot be compared: {old.dim} columns and ids of type {old.ids.type}, "
            f"{new.dim} columns and ids of type {new.ids.type}. Make the second with like=, or "
            "--like."
        )
    _refuse_other_parameters(old.parameters, new.parameters)
    if (
        old.fitted_state
        and new.fitted_state
        and _features(old.fitted_state) != _features(new.fitted_state)
    ):
        raise ParameterError(
            "These vectors cannot be compared: they were made with other features. Make the second "
            "with like=, or --like."
        )
    if old.fitted_state and new.fitted_state and not _alike(old.fitted_state, new.fitted_state):
        logger.warning(
            "The second vectors were not made like the first: part of what moved are the scales of "
            "columns. Make them with like=, or --like."
        )
    places = pc.index_in(old.ids, value_set=new.ids)
    here = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
    there = places.drop_null().to_numpy()
    first, second = old.vectors[here], new.vectors[there]
    products = np.einsum("ij,ij->i", first, second) * (
        old.inverse_norms[here] * new.inverse_norms[there]
    )
    neither = (old.inverse_norms[here] == 0) & (new.inverse_norms[there] == 0)
    cosines = np.where(neither, np.float32(1), np.clip(products, -1, 1)).astype(np.float32)
    order = np.argsort(cosines, kind="stable")
    ids = old.ids.take(pa.array(here[order]))
    return Movement(ids, cosines[order], len(old) - len(here), len(new) - len(there))


def _alike(one: FittedState, other: FittedState) -> bool:
    """Whether two runs used the same R, 2m and statistics of columns."""
    if (one.sparsity, one.volume) != (other.sparsity, other.volume):
        return False
    first, second = one.statistics.columns, other.statistics.columns
    if first is None or second is None:
        return first is second
    return np.array_equal(first.mean, second.mean) and np.array_equal(first.factor, second.factor)


def _features(fitted_state: FittedState) -> list[str]:
    return fitted_state.features.kinds if fitted_state.features else []


def _refuse_other_parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises ParameterError naming the first parameter that differs, where both tell of some."""
    for name in sorted(old.keys() & new.keys() - set(RUNTIME_PARAMS)):
        if old[name] != new[name]:
            raise ParameterError(
                f"These vectors cannot be compared: {name} is {old[name]!r} in the first and "
                f"{new[name]!r} in the second. Make the second with like=, or --like."
            )
