"""Invalid input of Graph.from_edges, and its error messages."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Graph, GraphError, ParameterError

ENDS = {"source": ["a", "b", "c"], "target": ["b", "c", "d"]}


@pytest.mark.parametrize(
    ("weight", "shown"),
    [
        ([1, float("nan"), -1], "nan"),
        ([1, float("inf"), 1], "inf"),
        ([1, -float("inf"), 1], "-inf"),
        ([1, -2, float("nan")], "-2.0"),
        ([1, 1e-40, 1], "1e-40"),
        ([1, 9e-31, 1], "9e-31"),
        ([1, 1e31, 1], "1e+31"),
        ([1, None, 1], "nan"),
        ([1, 2**200, 1], "1.6069380442589903e+60"),
        (np.array([1, np.inf, 1], np.float16), "inf"),
        (np.array([1, np.nan, 1], np.float32), "nan"),
        (np.array([1, 1e-40, 1], np.float32), "1e-40"),
        (np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), "nan"),
        (pa.array([1, None, 1]), "nan"),
        (pa.array([1.5, None, 1]), "nan"),
    ],
)
def test_an_invalid_weight_is_refused_with_its_edge(weight, shown):
    with pytest.raises(GraphError) as error:
        Graph.from_edges(**ENDS, weight=weight)
    assert str(error.value) == (
        f"edge 2 ('b' - 'c'): the weight {shown} is not allowed. "
        "A weight must be 0 or between 1e-30 and 1e+30."
    )


@pytest.mark.parametrize(
    "weight",
    [
        ["1", "2", "3"],
        ["1", "x", "3"],
        [b"1", b"2", b"3"],
        [1, 2j, 3],
        [[1], [2, 3], [4]],
        [1, "x", 3],
        [1, {}, 3],
        np.array(["2020-01-01"] * 3, "M8[D]"),
        np.array([1, 2, 3], "m8[s]"),
        np.array([1, 2j, 3], object),
    ],
    ids=repr,
)
def test_weights_that_are_not_numbers_are_refused(weight):
    with pytest.raises(GraphError, match=r"^weight must contain numbers \("):
        Graph.from_edges(**ENDS, weight=weight)


@pytest.mark.parametrize("weight", [[1, 2], [1, 2, 3, 4], [], 3.0, [[1, 2, 3]], [[1], [2], [3]]])
def test_there_must_be_one_weight_per_edge(weight):
    with pytest.raises(
        GraphError, match=r"weight must contain one number per edge: 3 edges, got the shape"
    ):
        Graph.from_edges(**ENDS, weight=weight)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([1, None, None], "source, edge 2: there is no id (null)."),
        (["a", "b", None], "source, edge 3: there is no id (null)."),
        (np.array(["a", None, "b"], object), "source, edge 2: there is no id (null)."),
        (pa.array([1, 2, None]), "source, edge 3: there is no id (null)."),
        (pa.array([None] * 3), "source, edge 1: there is no id (null)."),
        (pa.chunked_array([["a"], ["b", None]]), "source, edge 3: there is no id (null)."),
        (pa.array(["a", None, "a"]).dictionary_encode(), "source, edge 2: there is no id (null)."),
        (np.ma.masked_array([1, 2, 3], [0, 0, 1]), "source, edge 3: there is no id (null)."),
        ({1, 2, 3}, "source: a set has no order. Use a list of ids."),
        (
            np.array([1, 2**63, 2**64 - 1], np.uint64),
            "source, edge 2: the id 9223372036854775808 is out of range; "
            "integer ids must fit in a signed 64-bit integer.",
        ),
        (
            np.array([1, 2**63, 2**64 - 1], ">u8"),
            "source, edge 2: the id 9223372036854775808 is out of range; "
            "integer ids must fit in a signed 64-bit integer.",
        ),
        (np.array([1.0, 2.5, 3.0]), "source, edge 2: the id 2.5 is not an integer or a string."),
        ([True, False, True], "source: ids must be integers or strings, got bool."),
        (np.array([True, False, True]), "source: ids must be integers or strings, got bool."),
        ([b"a", b"b", b"c"], "source: ids must be integers or strings, got binary."),
        (np.zeros((3, 1), int), "source must have one dimension, got the shape (3, 1)."),
        (np.array(3), "source must have one dimension, got the shape ()."),
        ("abc", "source must be a column of ids, got 'abc'."),
        (b"abc", "source must be a column of ids, got b'abc'."),
        ({"a": 1}, "source must be a column of ids, got {'a': 1}."),
    ],
)
def test_invalid_ids_are_refused_with_the_first_such_edge(source, message):
    with pytest.raises(GraphError) as error:
        Graph.from_edges(source, [1, 2, 3])
    assert str(error.value) == message


@pytest.mark.parametrize(
    "source",
    [
        [1, "a", 2],
        ["a", 1, "b"],
        np.array([1, "a", 2], object),
        [2**63, 1, 2],
        [-(2**63) - 1, 1, 2],
        [2**64, 1, 2],
        ["\ud800", "a", "b"],
        [object(), 1, 2],
        7,
        None,
    ],
)
def test_ids_of_mixed_types_or_beyond_64_bits_are_refused(source):
    with pytest.raises(GraphError, match=r"^source: ids must be all integers or all strings \("):
        Graph.from_edges(source, [1, 2, 3])


@pytest.mark.parametrize(
    "ids",
    [[(0, 1)] * 3, [[1, 2]] * 3, np.array([["a"]] * 3), np.array([1, 2, 3], "m8[s]")],
)
def test_ids_that_are_neither_integers_nor_strings_are_refused(ids):
    with pytest.raises(GraphError, match=r"^source: ids must be integers or strings, got "):
        Graph.from_edges(ids, [1, 2, 3])


def test_missing_ids_of_pandas_and_polars_are_refused_with_their_edge():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = (
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1.0, None]),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="category"),
        pl.Series([1, None]),
        pl.Series(["a", None]),
        pl.Series(["a", None], dtype=pl.Categorical),
    )
    for ids in columns:
        with pytest.raises(GraphError, match=r"^target, edge 2: there is no id"):
            Graph.from_edges([1, 2], ids)


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (([0], [1, 2]), {}, "source and target must have the same length, got 1 and 2."),
        (([0], ["a"]), {}, "source and target must both hold integers or both hold strings."),
        (([], []), {}, "The graph is empty: there are no edges, and no nodes were given."),
        (([], []), {"nodes": []}, "The graph is empty: the list of nodes is empty."),
        (([], []), {"nodes": 0}, "nodes must be between 1 and 2,147,483,647, got 0."),
        (([], []), {"nodes": -3}, "nodes must be between 1 and 2,147,483,647, got -3."),
        (
            ([], []),
            {"nodes": 2**31},
            "nodes must be between 1 and 2,147,483,647, got 2,147,483,648.",
        ),
        (([0], [1]), {"nodes": ["a"]}, "The edges hold integers, the nodes strings."),
        ((["a"], ["b"]), {"nodes": 3}, "The edges hold strings, the nodes integers."),
        (([0], [1]), {"nodes": [0, 1, 0]}, "nodes: the id 0 occurs more than once."),
        ((["a"], ["b"]), {"nodes": ["a", "b", "b"]}, "nodes: the id 'b' occurs more than once."),
        (([0], [1]), {"nodes": [0, None]}, "nodes, entry 2: there is no id (null)."),
        (
            ([0, 1, 0, 9], [1, 1, 1, 1]),
            {"nodes": 2},
            "source, edge 4: the id 9 is out of range; with nodes=2 ids are 0 to 1.",
        ),
        (
            ([0, 1, 0], [1, -1, -2]),
            {"nodes": 2},
            "target, edge 2: the id -1 is out of range; with nodes=2 ids are 0 to 1.",
        ),
        (([0, 7], [1, 1]), {"nodes": [0, 1]}, "source, edge 2: the id 7 is not among the nodes."),
        (
            (["a", "b"], ["b", "ä"]),
            {"nodes": ["a", "b"]},
            "target, edge 2: the id 'ä' is not among the nodes.",
        ),
    ],
)
def test_inconsistent_edges_and_nodes_are_refused(edges, options, message):
    with pytest.raises(GraphError) as error:
        Graph.from_edges(*edges, **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "edge"),
    [
        ({}, "edge 3 ('a' - 'b')"),
        ({"loops": "drop"}, "edge 3 ('a' - 'b')"),
        ({"weight": [0, 1, 2, 1, 1, 1]}, "edge 5 ('c' - 'c')"),
        ({"weight": [0, 1, 2, 1, 1, 1], "loops": "drop"}, "edge 6 ('b' - 'c')"),
        ({"directed": True}, "edge 5 ('c' - 'c')"),
        ({"directed": True, "loops": "drop"}, "edge 6 ('b' - 'c')"),
    ],
)
def test_the_first_repeated_edge_is_named_if_duplicates_are_errors(options, edge):
    with pytest.raises(GraphError) as error:
        Graph.from_edges(list("abbccb"), list("bcaccc"), duplicates="error", **options)
    assert str(error.value) == (
        f"{edge} repeats an earlier edge. Use duplicates='sum' to add up the weights, "
        "or duplicates='first' to keep the first edge."
    )


def test_distinct_edges_are_accepted_if_duplicates_are_errors():
    graph = Graph.from_edges([5, 9, 9], [9, 5, 9], duplicates="error", directed=True)
    assert graph.edges == 3


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("duplicates", "max", "'sum', 'first', 'error'"),
        ("duplicates", None, "'sum', 'first', 'error'"),
        ("loops", True, "'keep', 'drop'"),
    ],
)
def test_an_unknown_option_value_is_refused_with_the_allowed_ones(option, value, allowed):
    with pytest.raises(ParameterError) as error:
        Graph.from_edges([0], [1], **{option: value})
    assert (
        str(error.value) == f"Graph.from_edges: {option} must be one of {allowed}, got {value!r}."
    )


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_must_be_a_positive_integer(threads):
    with pytest.raises(ParameterError, match=r"threads must be an integer of at least 1, got"):
        Graph.from_edges([0], [1], threads=threads)
