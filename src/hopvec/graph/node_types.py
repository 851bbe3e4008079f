"""Types of nodes, such as "user" and "item": one string per node, null if a node has no type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import ParameterError
from hopvec.graph.ids import arrow_view, numpy_view

MAX_LISTED = 12  # types in a message
NO_TYPE = -1  # the code of a node without a type
PUNCTUATION = re.compile(r"[\W_]+$")


def encode_types(owner: str, types: Any, nodes: int) -> pa.DictionaryArray | None:
    """The types of nodes, dictionary-encoded in ascending order; None if no node has one.

    An empty string is no type. Raises ParameterError unless there is one string per node.
    """
    array = types.combine_chunks() if isinstance(types, pa.ChunkedArray) else pa.array(types)
    if len(array) != nodes:
        raise ParameterError(
            f"{owner}: there must be one type per node: {nodes:,} nodes, got {len(array):,} types."
        )
    try:
        if not pa.types.is_dictionary(array.type):
            array = array.cast(pa.large_string()).dictionary_encode()
        names = array.dictionary.cast(pa.large_string()).to_pylist()
    except pa.ArrowException as error:
        raise ParameterError(f"{owner}: types must be strings, got {array.type}.") from error
    return types_of_codes(type_codes(array), names)


def types_of_codes(codes: NDArray[Any], names: Sequence[str]) -> pa.DictionaryArray | None:
    """The types of nodes from positions in a list of names, NO_TYPE for none."""
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(names))).tolist()
    listed = sorted({names[at] for at in used if names[at]}, key=str.encode)
    if not listed:
        return None
    number = {name: at for at, name in enumerate(listed)}
    position = np.array([*(number.get(name, NO_TYPE) for name in names), NO_TYPE], np.int32)
    indices = position[codes]  # NO_TYPE is the last
    untyped = indices < 0
    array = pa.array(indices, mask=untyped) if untyped.any() else arrow_view(indices)
    return pa.DictionaryArray.from_arrays(array, pa.array(listed, pa.large_string()))


def count_types(types: pa.DictionaryArray) -> dict[str, int]:
    """The number of nodes of each type."""
    codes, names = type_codes(types), types.dictionary.to_pylist()
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    return dict(zip(names, counts.tolist(), strict=True))


def describe_types(types: pa.DictionaryArray | None) -> dict[str, Any]:
    """The types for a report, with the number of nodes that have none; empty without types."""
    if types is None:
        return {}
    untyped = {"without_type": types.null_count} if types.null_count else {}
    return {"types": count_types(types), **untyped}


def type_mask(
    owner: str, types: pa.DictionaryArray | None, wanted: str | Sequence[str]
) -> NDArray[np.bool_]:
    """Mask of the nodes of some types. Raises ParameterError for a type that no node has."""
    if types is None:
        raise ParameterError(
            f"{owner}: types= needs types of nodes, but none are known here. They come from a "
            "column of the nodes: node_type=, or from prefixes=."
        )
    names = types.dictionary.to_pylist()
    chosen = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in chosen:
        if name not in names:
            more = ", ..." if len(names) > MAX_LISTED else ""
            raise ParameterError(
                f"{owner}: there is no type {name!r}; the types are "
                f"{', '.join(map(str, names[:MAX_LISTED]))}{more}."
            )
    return np.isin(type_codes(types), [names.index(name) for name in chosen])


def types_of_prefixes(prefixes: Sequence[str]) -> list[str]:
    """The types that prefixes of ids stand for: "user" for "user:".

    These are the prefixes without punctuation at the end, unless two would be the same.
    """
    plain = [PUNCTUATION.sub("", prefix) for prefix in prefixes]
    return plain if len({*plain}) == len(plain) else list(prefixes)


def types_by_id(types: Mapping[Any, str], ids: pa.Array) -> list[str | None]:
    """The types of a dict, in the order of the ids."""
    return [types.get(id_) for id_ in ids.to_pylist()]


def type_codes(types: pa.DictionaryArray) -> NDArray[np.int32]:
    """The positions in the dictionary, NO_TYPE for nodes without a type."""
    import pyarrow.compute as pc

    indices = types.indices.cast(pa.int32())
    indices = pc.fill_null(indices, NO_TYPE) if indices.null_count else indices
    codes: NDArray[np.int32] = numpy_view(indices)
    return codes
