"""Times of edges: weights by age and windows, compared with the oracle; bad times."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from graph_arrays import arrays_of
from hopvec import FormatError, Graph, GraphError, ParameterError, ReadOptions, read_graph, read_sql

DAY = 86400
START = datetime(2024, 1, 1, tzinfo=UTC)
START_SECONDS = int(START.timestamp())


@st.composite
def timed_edges(draw):
    """Weighted edges among 6 nodes with loops and duplicates, and times in seconds."""
    count = draw(st.integers(1, 20))
    ends = st.lists(st.integers(0, 5), min_size=count, max_size=count)
    weight = st.one_of(st.just(0.0), st.floats(2**-20, 2**20, width=32))
    return {
        "source": draw(ends),
        "target": draw(ends),
        "weight": draw(st.lists(weight, min_size=count, max_size=count)),
        "time": draw(st.lists(st.integers(0, 400 * DAY), min_size=count, max_size=count)),
    }


def dense(graph):
    """S with rows and columns for the ids 0 to 5."""
    matrix, ids = np.zeros((6, 6)), graph.ids.to_pylist()
    matrix[np.ix_(ids, ids)] = graph.to_scipy().toarray()
    return matrix


@settings(max_examples=60)
@given(
    edges=timed_edges(),
    half_life=st.sampled_from([None, 1, DAY, 90 * DAY]),
    since=st.sampled_from([None, 100 * DAY]),
    until=st.sampled_from([None, 300 * DAY]),
    as_of=st.sampled_from([None, 400 * DAY]),
    directed=st.booleans(),
    weighted=st.booleans(),
)
def test_weights_by_age_and_windows_are_those_of_the_oracle(
    tmp_path_factory, edges, half_life, since, until, as_of, directed, weighted
):
    time = np.array(edges["time"])
    inside = (time >= (since or 0)) & (time < (until or 401 * DAY))
    if not inside.any():
        return
    weight = edges["weight"] if weighted else np.ones(len(time))
    as_of = None if half_life is None else as_of
    aged = oracle.age_weights(weight, time, half_life, as_of, since, until)
    expected = oracle.adjacency(6, edges["source"], edges["target"], aged, directed)

    def moment(seconds):
        return None if seconds is None else START + timedelta(seconds=seconds)

    options = {
        "half_life": None if half_life is None else timedelta(seconds=half_life),
        "as_of": moment(as_of),
        "since": moment(since),
        "until": moment(until),
        "directed": directed,
    }
    times = [moment(seconds) for seconds in edges["time"]]
    table = pa.table(edges | {"time": pa.array(times, pa.timestamp("ms", "UTC"))})
    table = table if weighted else table.drop_columns("weight")
    path = tmp_path_factory.mktemp("edges")
    pq.write_table(table, path / "edges.parquet")
    lines = zip(edges["source"], edges["target"], weight, times, strict=True)
    rows = [f"{u},{v},{float(w)!r},{t.isoformat()}\n" for u, v, w, t in lines]
    (path / "edges.csv").write_text("source,target,weight,time\n" + "".join(rows))
    graphs = [
        Graph.from_edges(
            edges["source"],
            edges["target"],
            weight if weighted else None,
            time=START_SECONDS + time,
            **options,
        ),
        Graph.from_arrow(table, time="time", **options),
        read_graph(path / "edges.parquet", time="time", **options),
        read_graph(path / "edges.csv", time="time", unweighted=not weighted, **options),
    ]
    nodes = {*np.array(edges["source"])[inside], *np.array(edges["target"])[inside]}
    for graph in graphs:
        assert graph.ids.to_pylist() == sorted(nodes)
        np.testing.assert_allclose(dense(graph), expected, rtol=3e-7, atol=0)
        assert graph.zero_weights == np.count_nonzero(aged[inside] == 0)
        assert arrays_of(graph) == arrays_of(graphs[0])


def random_edges(count=200_000, nodes=20_000):
    rng = np.random.default_rng(4)
    source, target = rng.integers(0, nodes, (2, count))
    return pa.table(
        {
            "source": source,
            "target": target,
            "weight": rng.random(count) + 0.01,
            "ts": pa.array(rng.integers(0, 10**9, count), pa.timestamp("s")),
        }
    )


TIMES = {"time": "ts", "half_life": "90d", "since": "1975-01-01"}


@pytest.mark.parametrize("limits", [{"memory": "12MB"}, {"threads": 1}, {"threads": 3}])
def test_weights_by_age_do_not_depend_on_memory_threads_or_the_order_of_the_input(tmp_path, limits):
    table = random_edges()
    pq.write_table(table, tmp_path / "edges.parquet")
    shuffled = table.take(np.random.default_rng(5).permutation(len(table)))
    pq.write_table(shuffled, tmp_path / "shuffled.parquet", row_group_size=7000)
    expected = arrays_of(read_graph(tmp_path / "edges.parquet", **TIMES))
    for name in ("edges.parquet", "shuffled.parquet"):
        assert arrays_of(read_graph(tmp_path / name, spill_dir=tmp_path, **TIMES, **limits)) == (
            expected
        )


def write(tmp_path, *times):
    """A CSV of edges n0 - n1, n1 - n2, ... with these times."""
    rows = [f"n{at},n{at + 1},{time}\n" for at, time in enumerate(times)]
    (tmp_path / "edges.csv").write_text("source,target,ts\n" + "".join(rows))
    return tmp_path / "edges.csv"


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["2024-01-01", ""], "line 3: the time is missing"),
        (["2024-01-01", "soon"], "line 3: the time 'soon' cannot be read; times in this column"),
        (["1704067200", "1704067200000"], "line 3: the time '1704067200000' cannot be read"),
        (["2024-01-01", "2024-02-02"], "line 3: the time 2024-02-02 is after as_of='2024-02-01'"),
    ],
)
def test_bad_times_are_refused_with_their_line_or_skipped_and_counted(tmp_path, times, message):
    path = write(tmp_path, *times)
    options = {"time": "ts", "half_life": "7d", "as_of": "2024-02-01"}
    with pytest.raises(GraphError, match=message):
        read_graph(path, **options)
    graph = read_graph(path, bad_rows="skip", **options)
    assert graph.ids.to_pylist() == ["n0", "n1"]
    assert [found["rows"] for found in graph.origin["skipped rows"].values()] == [1]


def test_edges_after_as_of_are_no_error_if_the_window_ends_before(tmp_path):
    path = write(tmp_path, "2024-01-01", "2024-02-02")
    graph = read_graph(path, time="ts", half_life="31d", as_of="2024-02-01", until="2024-02-01")
    assert graph.degrees.tolist() == [0.5, 0.5]


def test_the_report_shows_kind_span_window_and_half_life(tmp_path):
    path = write(tmp_path, "1704067200000", "1706745600000", "1709251200500")
    graph = read_graph(path, time="ts", since="2024-01-15", half_life="2w")
    assert graph.origin["time"] == {
        "kind": "Unix time in milliseconds",
        "oldest": "2024-02-01",
        "newest": "2024-03-01T00:00:00.500000Z",
        "since": "2024-01-15",
        "outside": 1,
        "half_life": "14d",
        "as_of": "2024-03-01T00:00:00.500000Z",
    }
    assert read_graph(path, time="ts").origin["time"] == {
        "kind": "Unix time in milliseconds",
        "oldest": "2024-01-01",
        "newest": "2024-03-01T00:00:00.500000Z",
    }


def test_time_alone_changes_no_weight(tmp_path):
    path = write(tmp_path, "2024-01-01", "2024-02-02")
    assert arrays_of(read_graph(path, time="ts")) == arrays_of(read_graph(path))


def test_a_weight_that_has_decayed_to_nothing_is_an_edge_of_weight_0(tmp_path):
    graph = read_graph(write(tmp_path, "2024-01-01", "2024-06-01"), time="ts", half_life="1d")
    assert (graph.zero_weights, graph.edges, graph.nodes) == (1, 1, 3)


def test_an_empty_window_is_an_error_that_shows_the_span(tmp_path):
    path = write(tmp_path, "2024-01-01", "2024-06-01")
    with pytest.raises(GraphError, match=r"all 2 edges are outside .* from 2024-01-01 to 2024-06-"):
        read_graph(path, time="ts", since="2025-01-01")
    with pytest.raises(GraphError, match="all 1 edges are outside"):
        Graph.from_edges(["a"], ["b"], time=["2024-01-01"], until="2023")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_life": "30d"}, "half_life= needs time="),
        ({"since": "2024"}, "since= needs time="),
        ({"time": "ts", "as_of": "2024"}, "as_of= needs half_life="),
        ({"time": "ts", "half_life": "5m"}, "half_life must be a positive duration"),
        ({"time": "ts", "since": "soon"}, "since must be a time"),
        ({"time": "ts", "since": 2025, "until": 2024}, "since= must be before until="),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        ReadOptions(**options)
    with pytest.raises(ParameterError, match=message):
        Graph.from_edges(["a"], ["b"], **options)


def test_a_column_of_another_type_and_a_format_without_columns_are_refused(tmp_path):
    table = pa.table({"source": [1], "target": [2], "ok": [True]})
    pq.write_table(table, tmp_path / "edges.parquet")
    with pytest.raises(FormatError, match="the column of times holds bool"):
        read_graph(tmp_path / "edges.parquet", time="ok")
    (tmp_path / "edges.gml").write_text("graph [ node [ id 0 ] ]")
    with pytest.raises(FormatError, match="time= does not apply to the format gml"):
        read_graph(tmp_path / "edges.gml", time="ts")


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (["2024-01-01"], "one time per edge: 2 edges, got 1"),
        (["2024-01-01", None], r"edge 2 \('b' - 'c'\): the time is missing"),
        ([True, False], "the column of times holds bool"),
        ([{}, 1], "time must be a column of times"),
    ],
)
def test_bad_times_of_lists_are_refused_with_their_edge(time, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(["a", "b"], ["b", "c"], time=time)


def test_times_are_read_from_a_database(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "graph.db")) as database:
        database.execute("create table edges (u text, v text, day timestamp)")
        database.execute("insert into edges values ('a', 'b', '2024-01-01')")
        database.execute("insert into edges values ('b', 'c', '2024-01-31')")
    address = f"duckdb:{tmp_path / 'graph.db'}"
    graph = read_sql("from edges", address, source="u", target="v", time="day", half_life="30d")
    assert graph.degrees.tolist() == [0.5, 1.5, 1.0]
    assert graph.origin["time"]["kind"] == "Arrow timestamps"


@pytest.mark.parametrize("balance", ["none", "total", "node"])
def test_ages_multiply_weights_before_relations_are_weighed(tmp_path, balance):
    table = random_edges(50_000, 3_000)
    kinds = np.array(["KNOWS", "LIKES", "RATED"])[np.arange(len(table)) % 3]
    table = table.append_column("kind", pa.array(kinds))
    pq.write_table(table, tmp_path / "edges.parquet")
    relations = {"relation_balance": balance, "relation_direction": "LIKES=out"}
    options = {**TIMES, "relation": "kind", **relations}
    seconds = table["ts"].cast(pa.int64()).to_numpy()
    since = int(datetime(1975, 1, 1, tzinfo=UTC).timestamp())
    aged = oracle.age_weights(table["weight"].to_numpy(), seconds, 90 * DAY, since=since)
    inside = seconds >= since
    columns = [table[name].to_numpy()[inside] for name in ("source", "target")]
    weight = aged[inside]
    expected = Graph.from_edges(*columns, weight, relation=kinds[inside].tolist(), **relations)
    graphs = [
        Graph.from_arrow(table, **options),
        read_graph(tmp_path / "edges.parquet", **options),
        read_graph(tmp_path / "edges.parquet", **options, memory="12MB", spill_dir=tmp_path),
    ]
    for graph in graphs:
        assert arrays_of(graph) == arrays_of(graphs[0])
        assert graph.indices.tobytes() == expected.indices.tobytes()
        np.testing.assert_allclose(graph.weights, expected.weights, rtol=1e-6)
