"""Limits an evaluation to nodes of some types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate.pairs import ids_like
from hopvec.graph.node_types import type_mask
from hopvec.labels import Labels

if TYPE_CHECKING:
    from hopvec.evaluate.held_out import HeldOut


def with_types(embeddings: Iterable[Embedding]) -> Embedding | None:
    """The first embedding whose nodes have types; None if there is none."""
    return next((one for one in embeddings if one.types is not None), None)


def labels_of_types(
    labels: Labels, types: str | Sequence[str], embeddings: Iterable[Embedding]
) -> Labels:
    """The labels of the nodes of some types."""
    import pyarrow.compute as pc

    typed = with_types(embeddings)
    mask = type_mask("classify", None if typed is None else typed.types, types)
    if typed is None:
        return labels
    ids = ids_like(typed.ids.filter(pa.array(mask)), labels.ids)
    if ids.type != labels.ids.type:  # integers and strings that are not numbers
        kept = np.zeros(len(labels), bool)
    else:
        kept = pc.is_in(labels.ids, value_set=ids).to_numpy(zero_copy_only=False)
    if not kept.any():
        raise ParameterError("classify: no node of these types= has a label.")
    return replace(labels, ids=labels.ids.filter(pa.array(kept)), matrix=labels.matrix[kept])


def links_of_types(held_out: HeldOut, types: str | Sequence[str], embedding: Embedding) -> HeldOut:
    """The pairs whose target is of some types; in an undirected graph, one of the two nodes."""
    import pyarrow.compute as pc

    training = held_out.training
    known = (embedding.ids, embedding.types)
    directed = bool(embedding.graph.get("directed"))
    if training is not None:
        directed = training.directed
        known = known if embedding.types is not None else (training.ids, training.node_types)
    mask = type_mask("predict_links", known[1], types)
    ids = known[0].filter(pa.array(mask))

    def kept(pairs: pa.Table) -> pa.Table:
        ends = ("target",) if directed else ("source", "target")
        found = [pc.is_in(ids_like(pairs.column(end), known[0]), value_set=ids) for end in ends]
        return pairs.filter(found[0] if directed else pc.or_(*found))

    edges = kept(held_out.edges)
    if not len(edges):
        raise ParameterError("predict_links: no held-out edge leads to a node of these types=.")
    negatives = {name: kept(pairs) for name, pairs in held_out.negatives.items()}
    return replace(held_out, edges=edges, negatives=negatives)
