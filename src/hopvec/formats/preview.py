"""Preview: the first rows of an embedding file and its number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

PREVIEW_ROWS = 4


class Preview(NamedTuple):
    """The first rows of a file and the number of all its rows."""

    embedding: Embedding
    """The first rows."""
    rows: int
    """The number of rows in the file."""
