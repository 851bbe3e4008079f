"""Vectors of an earlier run, which others are to be comparable with."""

from __future__ import annotations

from hopvec.embedding import Embedding
from hopvec.errors import FormatError
from hopvec.formats import read_preview
from hopvec.methods import FastRP, method_of


def earlier_run(path: str) -> tuple[Embedding, FastRP]:
    """The first vectors of a file with what it tells of its run, and the method of that run.

    Raises FormatError where others cannot be made like them.
    """
    embedding = read_preview(path).embedding
    made_by = embedding.parameters.get("method", FastRP.__name__)
    if made_by != FastRP.__name__:
        raise FormatError(
            f"{path}: these vectors are by {made_by}; only those by FastRP can be compared with "
            "others, or added to."
        )
    method = method_of(embedding.parameters) if embedding.fitted_state else None
    if not isinstance(method, FastRP):
        raise FormatError(
            f"{path}: this file does not tell what comparable vectors must share. Embed its graph "
            "again by FastRP, and save it as .parquet, .arrow, .npy or .npz."
        )
    return embedding, method
