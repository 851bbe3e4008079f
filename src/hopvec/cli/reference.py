"""The earlier run that `hopvec embed --like` and `hopvec transform` refer to."""

from __future__ import annotations

from typing import Any

from hopvec.embedding import Embedding
from hopvec.errors import FormatError
from hopvec.formats import read_preview
from hopvec.methods import METHODS, method_of


def reference_run(path: str) -> tuple[Embedding, Any]:
    """Read the fitted state of an embedding, and return it with the method that made it.

    Raises FormatError if no comparable vectors can be made.
    """
    embedding = read_preview(path).embedding
    comparable = [kind.__name__ for kind in METHODS.values() if kind._supports_like]
    made_by = embedding.parameters.get("method")
    if made_by is not None and made_by not in comparable:
        raise FormatError(
            f"{path}: these vectors were made by {made_by}; comparable vectors can only be made "
            f"by {' or '.join(comparable)}."
        )
    method = method_of(embedding.parameters) if embedding.fitted_state else None
    if method is None:
        raise FormatError(
            f"{path}: this file lacks the fitted state that comparable vectors share. Embed its "
            f"graph again with {' or '.join(comparable)}, and save it as .parquet, .arrow, .npy or "
            ".npz."
        )
    return embedding, method
