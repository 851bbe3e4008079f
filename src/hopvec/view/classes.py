"""Classes: the class that determines the color of a node, the largest of its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.graph.node_types import type_codes
from hopvec.labels import Labels

NONE = -1  # the code of a node without a class
MAX_LISTED = 12  # classes in an error message


@dataclass(frozen=True, eq=False)
class Classes:
    """The names of classes, and the class of each node."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]
    """[nodes]: the index of the first class of each node, or NONE."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """[classes]: the number of nodes per class, each counted once."""
        sizes: NDArray[np.int64] = np.bincount(
            self.codes[self.codes >= 0], minlength=len(self.names)
        )
        return sizes


def classes_of(
    embedding: Embedding, labels: Labels | None, wanted: Sequence[str] | None = None
) -> Classes:
    """The class of each node: of the `wanted` classes, else of all, the largest first.

    Without labels, the types of nodes are the classes. Raises ParameterError for an unknown class.
    """
    codes = np.full(len(embedding), NONE, dtype=np.int64)
    if labels is None and embedding.types is not None:
        return _classes_of_types(embedding.types)
    if labels is None:
        return Classes((), codes)
    found = labels.align(embedding)
    if wanted is None:
        order = np.argsort(-found.members.sum(axis=0), kind="stable")
    else:
        order = np.array([_index(found.classes, name) for name in wanted], dtype=np.int64)
    members = found.members[:, order]
    codes[found.rows] = np.where(members.any(axis=1), members.argmax(axis=1), NONE)
    return Classes(tuple(found.classes[index] for index in order), codes)


def _classes_of_types(types: pa.DictionaryArray) -> Classes:
    """The types of nodes, the largest first."""
    codes, names = type_codes(types), types.dictionary.to_pylist()
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")
    position = np.append(np.argsort(order), NONE)  # NO_TYPE is the last
    return Classes(tuple(names[at] for at in order), position[codes])


def _index(names: Sequence[str], name: str) -> int:
    if name in names:
        return names.index(name)
    listed = ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
    raise ParameterError(f"There is no class {name!r} among the {len(names):,} classes: {listed}.")
