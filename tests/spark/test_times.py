"""Times of edges on two executors: the vectors equal those of one machine."""

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import hopvec
from hopvec import FastRP, FormatError, Graph, GraphError, ParameterError
from hopvec.cli.program import hopvec as program
from hopvec.spark import embed
from one_pass import one_pass

METHOD = one_pass(dim=24, seed=3, beta=-0.5, weights=(0, 1, 1))
START = 1_704_067_200  # 2024-01-01


def timed_edges(kind, weighted, count=3000):
    random = np.random.default_rng(4)
    ends = (400 * random.random((2, count)) ** [[2], [1]]).astype(int)
    ends[1, :20] = ends[0, :20]  # loops
    ends[:, 20:60] = ends[:, 60:100]  # duplicates
    seconds = START + random.integers(0, 300 * 86400, count)
    moments = seconds.astype("datetime64[s]")
    times = {
        "timestamp": pa.array(moments, pa.timestamp("us", "UTC")),
        "date": pa.array(moments.astype("datetime64[D]")),
        "text": pa.array(np.datetime_as_string(moments).tolist()),
        "milliseconds": pa.array(seconds * 1000 + 7),
        "seconds": pa.array(seconds + 0.25),
    }
    columns = {"src": ends[0], "dst": ends[1], "when": times[kind]}
    if weighted:
        columns["weight"] = np.exp(8 * random.random(count))
    return pa.table(columns)


def vectors(table):
    table = table.sort_by("id")
    rows = table["embedding"].combine_chunks().flatten().to_numpy()
    return table["id"].to_pylist(), rows.reshape(len(table), -1)


@pytest.mark.parametrize(
    ("kind", "weighted", "options"),
    [
        ("timestamp", True, {"half_life": "20d"}),
        ("text", False, {"half_life": "20d", "as_of": "2025-01-01", "since": "2024-03-01"}),
        ("milliseconds", True, {"since": "2024-03-01", "until": "2024-06-01"}),
        ("seconds", False, {"half_life": "1d", "until": "2024-06-01"}),
        ("date", True, {}),
    ],
)
def test_the_vectors_have_the_bytes_of_one_machine(spark, tmp_path, kind, weighted, options):
    table = timed_edges(kind, weighted)
    frame = spark.createDataFrame(table)
    got = embed(
        frame,
        time="when",
        method=METHOD,
        strategy="columns",
        spill_dir=str(tmp_path),
        **options,
    )
    expected = METHOD.embed(Graph.from_arrow(table, time="when", **options))
    ids, rows = vectors(got.toArrow())
    assert ids == expected.ids.to_pylist()
    assert rows.tobytes() == expected.vectors.tobytes()


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_several_passes_use_the_weights_by_age(spark, tmp_path, strategy):
    table = timed_edges("timestamp", weighted=True)
    options = {"time": "when", "half_life": "20d", "since": "2024-02-01"}
    method, frame = (
        FastRP(dim=24, seed=3, passes=2, weights=(1, 1), refine_weights=(0, 1)),
        spark.createDataFrame(table),
    )
    got = embed(frame, method=method, strategy=strategy, spill_dir=str(tmp_path), **options)
    expected = method.embed(Graph.from_arrow(table, **options))
    ids, rows = vectors(got.toArrow())
    assert ids == expected.ids.to_pylist()
    if strategy == "columns":
        assert rows.tobytes() == expected.vectors.tobytes()
    else:
        assert np.linalg.norm(rows - expected.vectors, axis=1).max() < 1e-3


def test_relations_are_weighed_after_ages(spark, tmp_path):
    table = timed_edges("timestamp", weighted=True)
    relation = pa.array(np.resize(["KNOWS", "LIKES"], len(table)))
    table = table.append_column("kind", relation)
    options = {"time": "when", "half_life": "20d", "relation": "kind", "relation_balance": "node"}
    frame = spark.createDataFrame(table)
    got = embed(frame, method=METHOD, strategy="columns", spill_dir=str(tmp_path), **options)
    expected = METHOD.embed(Graph.from_arrow(table, **options))
    assert vectors(got.toArrow())[1].tobytes() == expected.vectors.tobytes()


@pytest.mark.parametrize(
    ("cell", "options", "message"),
    [
        (None, {}, "the edge 'a' - 'b': the time is missing"),
        ("soon", {}, "the edge 'a' - 'b': the time 'soon' cannot be read; times in this column"),
        (
            "2024-03-01",
            {"half_life": "1d", "as_of": "2024-02-01"},
            "the edge 'a' - 'b': the time 2024-03-01 is after as_of='2024-02-01'",
        ),
        ("2024-01-02", {"since": 2025}, "all 4 edges are outside the window of since= and until="),
    ],
)
def test_bad_times_are_refused_with_their_edge(spark, tmp_path, cell, options, message):
    rows = [("a", "b", cell)] + [("b", "c", "2024-01-01")] * 3
    frame = spark.createDataFrame(rows, "src string, dst string, day string")
    with pytest.raises(GraphError, match=message):
        embed(frame, time="day", method=METHOD, spill_dir=str(tmp_path), **options)


def test_options_and_columns_that_are_no_times_are_refused(spark, tmp_path):
    frame = spark.createDataFrame([("a", "b", True)], "src string, dst string, day boolean")
    with pytest.raises(FormatError, match="the column of times holds bool"):
        embed(frame, time="day", method=METHOD, spill_dir=str(tmp_path))
    with pytest.raises(ParameterError, match="half_life= needs time="):
        embed(frame, half_life="1d", method=METHOD, spill_dir=str(tmp_path))


def test_the_command_line_passes_the_options(spark, tmp_path):
    rows = zip("abcabd", "bcadca", [f"2024-01-0{day}" for day in range(1, 7)], strict=True)
    text = "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "edges.csv").write_text("src,dst,day\n" + text)
    options = ["--time", "day", "--half-life", "2d", "--since", "2024-01-02", "--passes", "1"]
    arguments = ["embed", str(tmp_path / "edges.csv"), *options, "--dim", "16", "-o"]
    spill = ["--spark", "local[1]", "--spill-dir", str(tmp_path)]
    for output, more in (("spark", spill), ("one.parquet", [])):
        result = CliRunner().invoke(program, [*arguments, str(tmp_path / output), *more])
        assert result.exit_code == 0, result.stderr
    got, expected = hopvec.load(tmp_path / "spark"), hopvec.load(tmp_path / "one.parquet")
    order = np.argsort(got.ids.to_pylist())
    assert got.vectors[order].tobytes() == expected.vectors.tobytes()
