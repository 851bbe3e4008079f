"""Nearest neighbors of nodes in several embeddings, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError, UnknownNodeError
from hopvec.tabular import Tabular


@dataclass(frozen=True, repr=False)
class Neighborhoods(Tabular):
    """The result of `neighbors`; `print` shows one table per node, one column per embedding.

    Attributes
    ----------
    found : dict
        `found[id][name]` are the neighbors of a node in an embedding, as pairs of id and cosine
        similarity, most similar first.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from hopvec import Embedding, evaluate
    >>> ids = pa.array(["ann", "bob", "cem"])
    >>> line = Embedding(np.float32([[1, 0], [2, 1], [0, 1]]), ids)
    >>> near = evaluate.neighbors({"line": line}, ["ann"]).found["ann"]["line"]
    >>> [id for id, similarity in near]
    ['bob', 'cem']
    """

    found: dict[Any, dict[str, list[tuple[Any, float]]]]

    def _rows(self, id: Any) -> list[list[str]]:
        """The table of a node: per rank, the neighbor and similarity in each embedding."""
        ranks = zip_longest(*self.found[id].values())
        return [
            [
                part
                for near in rank
                for part in ((str(near[0]), f"{near[1]:.4f}") if near else ("", ""))
            ]
            for rank in ranks
        ]

    def __str__(self) -> str:
        return "\n\n".join(map(self._text, self.found))

    def _text(self, id: Any) -> str:
        names = [part for name in self.found[id] for part in (name, "")]
        lines = [names, *self._rows(id)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n  ".join([str(id), *table])

    def _table_rows(self) -> list[dict[str, Any]]:
        return [
            {"id": id, "embedding": name, "neighbor": other, "similarity": similarity, "rank": rank}
            for id, by_name in self.found.items()
            for name, near in by_name.items()
            for rank, (other, similarity) in enumerate(near, 1)
        ]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the neighbors as plain Python values, ready for JSON.

        Returns
        -------
        list of dict
            For each node, its id and its neighbors in each embedding.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa
        >>> from hopvec import Embedding, evaluate
        >>> ids = pa.array(["ann", "bob", "cem"])
        >>> line = Embedding(np.float32([[1, 0], [2, 1], [0, 1]]), ids)
        >>> evaluate.neighbors({"line": line}, ["cem"], k=1).to_dict()[0]["id"]
        'cem'
        """
        return [
            {
                "id": id,
                "neighbors": {
                    name: [{"id": other, "similarity": similarity} for other, similarity in near]
                    for name, near in columns.items()
                },
            }
            for id, columns in self.found.items()
        ]


def neighbors(
    embeddings: Mapping[str, Embedding],
    ids: Iterable[Any],
    *,
    k: int = 5,
    among: Any = None,
    types: str | Sequence[str] | None = None,
    min_similarity: float = -1.0,
    mutual: bool = False,
) -> Neighborhoods:
    """Find the exact k nearest neighbors of nodes, by cosine similarity, in several embeddings.

    The result shows them side by side.

    Parameters
    ----------
    embeddings : dict of str to Embedding
        The embeddings, with their column titles as keys.
    ids : iterable
        The ids of the nodes.
    k : int
        Number of neighbors per node.
    among : array-like of ids, optional
        The only nodes that may be neighbors, as in `Embedding.nearest`.
    types : str or sequence of str, optional
        The only types of nodes that may be neighbors.
    min_similarity : float
        Leaves out neighbors with a smaller cosine similarity.
    mutual : bool
        Leaves out neighbors that do not have the node among their own k nearest, as in
        `Embedding.nearest_all`.

    Returns
    -------
    Neighborhoods
        The neighbors of each node in each embedding, most similar first.

    Raises
    ------
    UnknownNodeError
        If an embedding does not contain one of the nodes.
    ParameterError
        If `embeddings` is not a dict of embeddings, or another parameter is invalid.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from hopvec import Embedding, evaluate
    >>> ids = pa.array(["ann", "bob", "cem"])
    >>> line = Embedding(np.float32([[1, 0], [2, 1], [0, 1]]), ids)
    >>> back = Embedding(np.float32([[1, 0], [0, 1], [2, 1]]), ids)
    >>> print(evaluate.neighbors({"line": line, "back": back}, ["ann"]))
    ann
      line          back
      bob   0.8944  cem   0.8944
      cem   0.0000  bob   0.0000
    """
    if not isinstance(embeddings, Mapping) or not embeddings:
        raise ParameterError(
            "neighbors: embeddings must be a dict of names to embeddings, such as "
            f"{{'fastrp': embedding}}, got {embeddings!r}."
        )
    wanted = [ids] if isinstance(ids, str) else list(ids)
    rows = {}
    for name, embedding in embeddings.items():
        try:
            rows[name] = embedding.find(wanted)  # checks all ids before the first search
        except UnknownNodeError as error:
            raise UnknownNodeError(f"{name}: {error}" if len(embeddings) > 1 else error) from error
    found: dict[Any, dict[str, list[tuple[Any, float]]]] = {
        id_: {name: [] for name in embeddings} for id_ in wanted
    }
    for name, embedding in embeddings.items():
        search = embedding._neighbor_search(
            k, among=among, types=types, min_similarity=min_similarity, mutual=mutual
        )
        unique = np.array([*dict.fromkeys(rows[name].tolist())], np.int64)
        for id_, other, similarity, _ in zip(
            *search.table(unique).to_pydict().values(), strict=True
        ):
            found[id_][name].append((other, similarity))
    return Neighborhoods(found)
