"""Every function of the extension refuses arrays that are too short, and indices out of bounds.

`tests/native/test_sanitizers.py` runs these tests once more with the address sanitizer.
"""

from contextlib import suppress

import numpy as np
import pytest

from hopvec import _native

NODES, ENTRIES, COLUMNS = 5, 10, 16
STOP = {"threads": 2, "stop": _native.Stop()}
INDPTR = np.arange(0, ENTRIES + 1, 2)
INDICES = np.array([1, 2, 0, 3, 0, 4, 1, 4, 2, 3], np.int32)


def ints(*values):
    return np.array(values, np.int64)


def small(*values):
    return np.array(values, np.int32)


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def doubles(*shape):
    return np.ones(shape)


def csr():
    return {"indptr": INDPTR.copy(), "indices": INDICES.copy()}


def numbers():
    return np.arange(NODES, dtype=np.int32)


def lines(count=NODES):
    return np.zeros(64 * count, np.uint8)


def edges(**arrays):
    given = {"source": INDICES.copy(), "target": INDICES[::-1].copy(), "weight": ones(ENTRIES)}
    given |= {"offset": 0, "table": numbers(), "directed": True, "drop_loops": False}
    return _native.Edges(**given | arrays)


def strings():
    return {"offsets": ints(0, 2, 4, 6, 8, 10), "bytes": np.full(10, 49, np.uint8)}


def adjacency(**arrays):
    given = csr() | {"weights": ones(ENTRIES), "inverse_degrees": ones(NODES)}
    return _native.Adjacency(**given | arrays)


def sink_arrays():
    return {
        "next": lines(),
        "squares": doubles(NODES),
        "sum": ones(NODES, COLUMNS),
        "rows": numbers(),
        "columns": COLUMNS,
        "scale": ones(NODES),
        "fused": ((lines(), ones(NODES), 0.5), (lines(), ones(NODES), 0.5)),
    }


def feature_arrays():
    return {
        "number": ones(NODES, 2),
        "factor": ones(2),
        "shift": ones(2),
        "number_key": ones(2, dtype=np.uint64),
        "category": ones(NODES, 1, dtype=np.uint64),
        "rows": numbers(),
        "seed": 1,
        "weight": 1.0,
    }


def keys():
    return np.arange(NODES, dtype=np.uint64)


def hop(**arrays):
    """A hop with a sink whose arrays are given here: a sink alone does not know how many rows."""
    _native.hop(adjacency(), lines(), False, _native.Sink(**arrays), **STOP)


def draw(**arrays):
    sampler = _native.SparseRows(seed=1, sparsity=1.0)
    _native.draw(sampler, sink=_native.Sink(next=lines()), slab=0, as_half=False, **STOP, **arrays)


def draw_features(**arrays):
    features = _native.Features(**arrays)
    draw(keys=keys(), diagonal=ones(NODES), features=features)


def line_order(negatives=2):
    return _native.LineOrder(
        seed=1, number=1, samples=10, negatives=negatives, rate=0.1, both_directions=True
    )


def sampler_arrays():
    return csr() | {"weights": ones(ENTRIES), "degrees": doubles(NODES), "noise": doubles(NODES)}


def sampler():
    return _native.EdgeSampler(**sampler_arrays(), **STOP)


def scaled_rows():
    return ones(NODES, 3), ones(NODES), ones(NODES), ints(0, 2, 4)


def block(rows, dtype=np.float64):
    return np.ones((rows, 16), dtype)


def paths():
    weights = {"entry": doubles(ENTRIES), "inner": doubles(NODES), "last": doubles(NODES)}
    return csr() | weights | {"steps": 2}


def count(**arrays):
    _native.EntryBuckets(NODES).count(edges(), **arrays, **STOP)


def place(**arrays):
    _native.EntryBuckets(NODES).place(edges(), first=0, **arrays, **STOP)


def ranges():
    return {"first": 0, "last": NODES}


def ends():
    return {"source": small(*[0] * 9), "target": small(*[0] * 9)}


def unmerged():
    return {
        "unmerged_indptr": INDPTR.copy(),
        "unmerged_indices": INDICES.copy(),
        "unmerged_weights": ones(ENTRIES),
        "unmerged_first": 0,
        "new_number": numbers(),
    }


MODELS = {
    "ErdosRenyi": lambda: _native.ErdosRenyi(nodes=9, seed=1),
    "ChungLu": lambda: _native.ChungLu(nodes=9, exponent=2.5, offset=1, shuffled=True, seed=1),
    "RMat": lambda: _native.RMat(scale=3, a=0.5, b=0.2, c=0.2, shuffled=True, seed=1),
}

# A function, its arguments, and the arrays that may be shorter because they set a length.
CALLS = {
    "Edges": (edges, lambda: {"source": INDICES.copy(), "target": INDICES.copy()}, ()),
    "Edges.weight": (edges, lambda: {"weight": ones(ENTRIES)}, ()),
    "Edges.table": (edges, lambda: {"table": numbers()}, ()),
    "EntryBuckets.count": (count, lambda: {"counts": np.zeros(NODES, np.int64)}, ()),
    "EntryBuckets.place": (
        place,
        lambda: {
            "cursor": INDPTR[:-1].copy(),
            "indices": np.zeros(ENTRIES, np.int32),
            "weights": ones(ENTRIES),
        },
        ("cursor",),
    ),
    "StringDictionary": (_native.StringDictionary(2).encode, strings, ("offsets",)),
    "IntegerDictionary": (
        _native.IntegerDictionary(2).encode,
        lambda: {"ids": ints(1, 2)},
        ("ids",),
    ),
    "degrees": (
        _native.degrees,
        lambda: {"indptr": INDPTR.copy(), "weights": ones(ENTRIES)},
        ("indptr",),
    ),
    "nodes_with_loops": (_native.nodes_with_loops, csr, ("indptr",)),
    "largest_component": (
        _native.largest_component,
        lambda: csr() | {"symmetric": False, "mapped": False, "stop": STOP["stop"]},
        (),
    ),
    "parse_integers": (_native.parse_integers, strings, ("offsets",)),
    "sort_strings": (_native.sort_strings, strings, ("offsets",)),
    "string_keys": (_native.string_keys, strings, ("offsets",)),
    "take_strings": (_native.take_strings, lambda: strings() | {"order": numbers()}, ()),
    "integer_keys": (_native.integer_keys, lambda: {"ids": ints(1, 2)}, ("ids",)),
    "sort_rows": (
        _native.sort_rows,
        lambda: csr() | ranges() | {"weights": ones(ENTRIES), **STOP},
        (),
    ),
    "count_distinct": (
        _native.count_distinct,
        lambda: csr() | ranges() | {"distinct": numbers(), "columns": numbers(), **STOP},
        (),
    ),
    "order_nodes": (
        _native.order_nodes,
        lambda: {"distinct": numbers(), "columns": numbers(), "keys": keys(), **STOP},
        (),
    ),
    "merge_and_renumber": (
        _native.merge_and_renumber,
        lambda: unmerged() | csr() | ranges() | {"weights": ones(ENTRIES), "sum": True, **STOP},
        ("unmerged_indptr",),
    ),
    "symmetric": (_native.symmetric, lambda: csr() | {"weights": ones(ENTRIES), **STOP}, ()),
    "Adjacency": (
        adjacency,
        lambda: csr() | {"weights": ones(ENTRIES), "inverse_degrees": ones(NODES)},
        (),
    ),
    "Sink": (hop, sink_arrays, ()),
    "Features": (draw_features, feature_arrays, ("category columns",)),
    "draw": (draw, lambda: {"keys": keys(), "diagonal": ones(NODES)}, ()),
    "emit_rows": (
        _native.emit_rows,
        lambda: {
            "rows": ones(NODES, COLUMNS),
            "first": 0,
            "diagonal": ones(NODES),
            "as_half": False,
            "sink": _native.Sink(next=lines()),
            **STOP,
        },
        ("rows",),
    ),
    "first_hop": (
        _native.first_hop,
        lambda: {
            "adjacency": adjacency(),
            "sampler": _native.SparseRows(seed=1, sparsity=1.0),
            "keys": keys(),
            "diagonal": ones(NODES),
            "slab": 0,
            "as_half": False,
            "sink": _native.Sink(next=lines()),
            **STOP,
        },
        (),
    ),
    "hop": (
        _native.hop,
        lambda: {
            "adjacency": adjacency(),
            "block": lines(),
            "as_half": True,
            "sink": _native.Sink(next=lines()),
            **STOP,
        },
        (),
    ),
    "gather_lines": (
        _native.gather_lines,
        lambda: {
            "adjacency": adjacency(),
            "lines": ones(16 * NODES),
            "out": ones(16 * NODES),
            "distance": 0,
            **STOP,
        },
        (),
    ),
    "triad": (_native.triad, lambda: {"a": ones(9), "b": ones(9), "out": ones(9), **STOP}, ()),
    "weighted_sum": (
        _native.weighted_sum,
        lambda: {
            "orders": [lines(), lines()],
            "weights": [1.0, 1.0],
            "unit": True,
            "slabs": 1,
            "as_half": False,
            "sum": ones(NODES, COLUMNS),
            "rows": numbers(),
            **STOP,
        },
        ("rows", "sum columns"),
    ),
    "moments": (
        _native.moments,
        lambda: {"sum": ones(NODES, 3), "rows": numbers(), "mean": doubles(3), **STOP},
        ("rows",),
    ),
    "standardize": (
        _native.standardize,
        lambda: {
            "sum": ones(NODES, 3),
            "rows": numbers(),
            "mean": doubles(3),
            "factor": doubles(3),
            "unit": True,
            **STOP,
        },
        ("rows",),
    ),
    "power": (_native.power, lambda: {"x": doubles(3), "y": 0.5}, ("x",)),
    "logarithm": (_native.logarithm, lambda: {"x": doubles(3)}, ("x",)),
    "cumulative_weights": (
        _native.cumulative_weights,
        lambda: {"indptr": INDPTR.copy(), "weights": ones(ENTRIES), **STOP},
        ("indptr",),
    ),
    "walk_order": (
        _native.walk_order,
        lambda: {"keys": keys(), "seed": 1, "round": 0},
        ("keys",),
    ),
    "random_walks": (
        _native.random_walks,
        lambda: (
            csr()
            | {"cumulative": np.cumsum(doubles(ENTRIES)), "p": 0.5, "q": 2.0, "keys": keys()}
            | {"first": numbers(), "seed": 1, "round": 0, "length": 9, **STOP}
        ),
        ("first",),
    ),
    "alias_table": (_native.alias_table, lambda: {"weights": doubles(3)}, ("weights",)),
    "column_sums": (_native.column_sums, lambda: csr() | {"weights": ones(ENTRIES)}, ()),
    "EdgeSampler": (_native.EdgeSampler, lambda: sampler_arrays() | STOP, ()),
    "initialize_line": (
        _native.initialize_line,
        lambda: {"order": line_order(), "keys": keys(), "dim": 16, "vectors": ones(NODES, 16)},
        ("keys",),
    ),
    "train_line": (
        _native.train_line,
        lambda: {
            "sampler": sampler(),
            "order": line_order(),
            "vectors": ones(NODES, 16),
            "contexts": ones(NODES, 16),
            "first": 0,
            "last": 10,
            "workers": 1,
            "stop": STOP["stop"],
        },
        (),
    ),
    "inverse_norms": (
        _native.inverse_norms,
        lambda: {"vectors": ones(NODES, 3), **STOP},
        ("vectors", "vectors columns"),
    ),
    "top_products": (
        _native.top_products,
        lambda: {
            "queries": scaled_rows(),
            "candidates": scaled_rows(),
            "indptr": ints(0, 1, 2, 3),
            "excluded": ints(0, 2, 4),
            "k": 2,
            "min_product": 0.0,
            **STOP,
        },
        ("candidates 3",),
    ),
    "pair_products": (
        _native.pair_products,
        lambda: {"first": scaled_rows(), "second": scaled_rows(), **STOP},
        (),
    ),
    "best_pairs": (
        _native.best_pairs,
        lambda: {
            "vectors": ones(NODES, 3),
            "scale": ones(NODES),
            "first": 0,
            "last": NODES,
            "k": 2,
            "min_similarity": 0.0,
            **STOP,
        },
        ("vectors columns",),
    ),
    "top_paths": (
        _native.top_paths,
        lambda: (
            paths()
            | {"from_nodes": ints(0, 1, 2), "allowed": ones(NODES, dtype=np.uint8)}
            | {"excluded_indptr": ints(0, 1, 2, 3), "excluded": ints(0, 1, 2), "rows": numbers()}
            | {"k": 2, **STOP}
        ),
        (),
    ),
    "score_paths": (
        _native.score_paths,
        lambda: paths() | {"from_nodes": ints(0, 1, 2), "to_nodes": ints(2, 3, 4), **STOP},
        (),
    ),
    "count_common": (
        _native.count_common,
        lambda: (
            csr()
            | {"into_indptr": INDPTR.copy(), "into_indices": INDICES.copy(), "steps": 2}
            | {"from_nodes": ints(0, 1, 4), "to_nodes": ints(2, 3, 4), **STOP}
        ),
        (),
    ),
    "product": (
        _native.product,
        lambda: {"matrix": ones(NODES, 3), "block": block(3), "transposed": False, **STOP},
        ("matrix",),
    ),
    "product of the transpose": (
        _native.product,
        lambda: {"matrix": ones(NODES, 3), "block": block(NODES), "transposed": True, **STOP},
        ("matrix columns",),
    ),
    "add_gram": (
        _native.add_gram,
        lambda: {"rows": ones(NODES, 3), "gram": doubles(3, 3), **STOP},
        ("rows",),
    ),
    "add_normalized_gram": (
        _native.add_normalized_gram,
        lambda: (
            {"rows": ones(NODES, 3), "mean": doubles(3), "factor": doubles(3)}
            | {"total": doubles(3), "gram": doubles(3, 3), **STOP}
        ),
        ("rows",),
    ),
    "center_gram": (
        _native.center_gram,
        lambda: {"gram": doubles(3, 3), "mean": doubles(3), "rows": 2},
        (),
    ),
    "project_rows": (
        _native.project_rows,
        lambda: (
            {"rows": ones(NODES, 3), "mean": doubles(3), "factor": doubles(3)}
            | {"matrix": ones(3, 2), "offset": ones(2), "unit_factor": doubles(2)}
            | {"out": ones(NODES, 2), "targets": numbers(), **STOP}
        ),
        (),
    ),
    "project_rows in order": (
        _native.project_rows,
        lambda: (
            {"rows": ones(NODES, 3), "mean": doubles(3), "factor": doubles(3)}
            | {"matrix": ones(3, 2), "offset": ones(2), "unit_factor": None}
            | {"out": ones(NODES, 2), "targets": None, **STOP}
        ),
        ("rows",),
    ),
    "spectral_matrix": (
        _native.spectral_matrix,
        lambda: {"vectors": doubles(3, 3), "factor": doubles(3), **STOP},
        (),
    ),
    "basis_products": (
        _native.basis_products,
        lambda: {"basis": [block(NODES), block(NODES)], "block": block(NODES), **STOP},
        (),
    ),
    "add_combination": (
        _native.add_combination,
        lambda: (
            {"basis": [block(NODES), block(NODES)], "coefficients": block(32)}
            | {"block": block(NODES), **STOP}
        ),
        (),
    ),
    "positive_logarithm": (
        _native.positive_logarithm,
        lambda: {"matrix": ones(NODES, 3), "factor": doubles(3), **STOP},
        ("matrix",),
    ),
    "eigen": (
        _native.eigen,
        lambda: {"matrix": doubles(3, 3), "count": 3, "by_magnitude": False, **STOP},
        (),
    ),
    **{
        name: (model().draw, lambda: ends() | {"first": 0, **STOP}, ())
        for name, model in MODELS.items()
    },
}
WITHOUT_ARRAYS = {
    *("Stop", "LineOrder", "SparseRows", "GaussianRows"),
    *("level", "allocate", "report_truncated_maps"),
}


def arrays_of(value, path=()):
    """The arrays among some arguments, by their path."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, dict | tuple | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from arrays_of(part, (*path, key))


def replaced(value, path, array):
    """The same arguments with another array."""
    if not path:
        return array
    if isinstance(value, dict):
        return value | {path[0]: replaced(value[path[0]], path[1:], array)}
    parts = list(value)
    parts[path[0]] = replaced(parts[path[0]], path[1:], array)
    return type(value)(parts)


def shorter():
    for name, (_, make, free) in CALLS.items():
        for path, array in arrays_of(make()):
            label = " ".join(map(str, path))
            yield name, path, 0, label in free
            if array.ndim == 2 and array.shape[1] != 16:
                yield name, path, 1, label + " columns" in free


def with_indices():
    for name, (_, make, _) in CALLS.items():
        for path, array in arrays_of(make()):
            if array.dtype in (np.int32, np.int64):
                yield name, path


def test_every_function_of_the_extension_is_called_here():
    public = {name for name in dir(_native) if not name.startswith("_")}
    assert public - WITHOUT_ARRAYS == {name.split(" ")[0].split(".")[0] for name in CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_the_right_length_are_accepted(name):
    call, make, _ = CALLS[name]
    call(**make())


@pytest.mark.parametrize(("name", "path", "axis", "free"), list(shorter()), ids=str)
def test_an_array_that_is_one_too_short_is_refused(name, path, axis, free):
    call, make, _ = CALLS[name]
    arguments = make()
    (array,) = (array for found, array in arrays_of(arguments) if found == path)
    short = np.ascontiguousarray(array[:-1] if axis == 0 else array[:, :-1]).copy()
    arguments = replaced(arguments, path, short)
    if free:
        call(**arguments)
    else:
        with pytest.raises((ValueError, TypeError)):
            call(**arguments)


@pytest.mark.parametrize("wrong", [-1, 1 << 20])
@pytest.mark.parametrize(("name", "path"), list(with_indices()), ids=str)
def test_an_index_out_of_bounds_is_refused_or_not_followed(name, path, wrong):
    call, make, _ = CALLS[name]
    for position in (0, -1):
        arguments = make()
        (array,) = (array for found, array in arrays_of(arguments) if found == path)
        array[position] = wrong
        with suppress(ValueError):
            call(**arguments)


def test_columns_that_are_not_next_to_each_other_are_refused():
    matrix = np.asfortranarray(ones(NODES, 3))
    with pytest.raises((ValueError, TypeError)):
        _native.add_gram(matrix, doubles(3, 3), **STOP)


@pytest.mark.parametrize("sparsity", [0.5, 0.0, -1.0, float("nan")])
def test_a_sparsity_below_1_is_refused(sparsity):
    with pytest.raises(ValueError, match="sparsity"):
        _native.SparseRows(seed=1, sparsity=sparsity)
