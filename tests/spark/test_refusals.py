"""Errors on Spark, and their messages."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hopvec import FastRP, FormatError, Graph, GraphError, ParameterError
from hopvec.cli import on_spark
from hopvec.cli.program import hopvec
from hopvec.graph.columns import ColumnSpec
from hopvec.spark import embed, estimate
from hopvec.spark.edges import EdgeFrame
from spark_stages import last_stage, stages

INVALID_WEIGHT = "not allowed. A weight must be 0 or between 1e-30 and 1e+30."
NULLS = "Remove such rows first: on Spark they are not skipped."
BLOCKS = {"strategy": "blocks"}
EARLIER = FastRP(dim=4).embed(Graph.from_edges(["a", "b"], ["b", "c"]))


def frame(spark, schema, *rows):
    return spark.createDataFrame(list(rows), schema)


@pytest.mark.parametrize(
    ("schema", "rows", "error", "message"),
    [
        ("src string, dst string", [("a", "b"), (None, "c")], GraphError,
         f"The source of an edge is null; its target is 'c'. {NULLS}"),
        ("src string, dst string", [("a", None)], GraphError,
         f"The target of an edge is null; its source is 'a'. {NULLS}"),
        ("src int, dst int, weight float", [(1, 2, float("nan"))], GraphError,
         f"the edge 1 - 2: the weight nan is {INVALID_WEIGHT}"),
        ("src int, dst int, weight double", [(1, 2, None)], GraphError,
         f"the edge 1 - 2: the weight nan is {INVALID_WEIGHT}"),
        ("src int, dst int, weight double", [(1, 2, -1.0)], GraphError,
         f"the edge 1 - 2: the weight -1.0 is {INVALID_WEIGHT}"),
        ("src string, dst string", [], GraphError,
         "The graph is empty: there are no edges, and no nodes were given."),
        ("src string, dst string, weight string", [("a", "b", "1")], FormatError,
         "the DataFrame of edges: the column 'weight' holds string, but weights are numbers. "
         "Choose another column with weight=, or set unweighted=True."),
        ("src string, dst double", [("a", 1.0)], FormatError,
         "the DataFrame of edges: the column 'dst' holds double; ids are integers or strings."),
        ("src string, dst bigint", [("a", 1)], GraphError,
         "source and target must both hold integers or both hold strings."),
    ],
)  # fmt: skip
def test_bad_edges_are_refused_before_any_shuffle(spark, schema, rows, error, message):
    before = last_stage(spark)
    with pytest.raises(error) as raised:
        embed(frame(spark, schema, *rows))
    assert str(raised.value) == message
    assert sum(s.shuffleWriteBytes() for s in stages(spark) if s.stageId() > before) < 2000


def test_a_column_that_is_not_there_is_refused_by_name(spark):
    edges = frame(spark, "src string, dst string", ("a", "b"))
    with pytest.raises(FormatError, match="there is no column 'cost' for the weight"):
        embed(edges, weight="cost")


def test_columns_that_no_name_identifies_give_a_warning_and_are_reported(spark, caplog):
    edges = frame(spark, "a string, b string, size int, count double", ("a", "b", 1, 2.0))
    found = EdgeFrame.from_frame(edges, ColumnSpec(), name="abc.parquet")
    assert "abc.parquet: Using 'a' as the source and 'b' as the target because of" in caplog.text
    assert found.columns == {
        "columns": {"source": "a", "target": "b", "weight": "count"},
        "ignored": ["size"],
    }
    EdgeFrame.from_frame(frame(spark, "src int, dst int, size int", (1, 2, 3)), ColumnSpec())
    assert "No column is used as the weight, although 'size' is numeric" in caplog.text


@pytest.mark.parametrize(
    ("schema", "rows", "error", "message"),
    [
        ("id string, x double", [("a", 1.0), ("b", float("nan"))], GraphError,
         "features, the row of 'b', column 'x': the number nan is not allowed. Numbers must "
         "be finite and at most 1e+30 in absolute value; use null for a missing value."),
        ("id string, l array<float>", [("a", [1.0, None]), ("b", [1.0, float("inf")])], GraphError,
         "features, the row of 'b', column 'l.1': the number inf is not allowed. Numbers must "
         "be finite and at most 1e+30 in absolute value; use null for a missing value."),
        ("id string, l array<float>", [("a", [1.0]), ("b", [1.0, 2.0])], GraphError,
         "features: the lists of the column 'l' differ in length."),
        ("id string, x int", [("a", 1), ("b", 1), ("a", 2)], GraphError,
         "features: the id 'a' has more than one row."),
        ("id string, x int", [("a", 1), (None, 1)], GraphError,
         "features, some row: the id in 'id' is empty."),
        ("id string, x int", [("a", 1), ("", 1)], GraphError,
         "features, some row: the id in 'id' is empty."),
        ("id string", [("a",)], GraphError,
         "features: there is no column besides the ids."),
        ("id string, x int, x int", [("a", 1, 2)], GraphError,
         "features: two columns are named 'x'; rename one of them."),
        ("id double, x int", [(1.0, 1)], FormatError,
         "features: the column 'id' holds double; ids are integers or strings."),
        ("id string, at timestamp", [("a", None)], GraphError,
         "features: the column 'at' has the type timestamp; features are numbers, strings, "
         "categories and booleans. Cast it, or leave it out."),
        ("who string, x int", [("a", 1)], GraphError,
         "features: there is no id column. Rename it to 'id', or name it with features_id=."),
    ],
)  # fmt: skip
def test_bad_features_are_refused_before_any_shuffle(spark, schema, rows, error, message):
    before = last_stage(spark)
    with pytest.raises(error) as raised:
        embed(
            frame(spark, "src string, dst string", ("a", "b")),
            features=frame(spark, schema, *rows),
        )
    assert str(raised.value) == message
    assert sum(s.shuffleWriteBytes() for s in stages(spark) if s.stageId() > before) < 2000


def test_features_of_no_node_are_refused(spark):
    edges = frame(spark, "src string, dst string", ("a", "b"))
    features = frame(spark, "id string, who bigint, x int", ("a", 1, 1))
    with pytest.raises(GraphError, match="no id in the column 'who' is a node"):
        embed(edges, features=features, features_id="who")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"method": FastRP(feature_weight=2)},
            ParameterError,
            "but the graph has no features",
        ),
        (
            {"features_id": "id"},
            GraphError,
            "features_id= names a column of features=, which is not given",
        ),
        ({"features": {"id": ["a"]}}, GraphError, "features must be a Spark DataFrame, got dict"),
    ],
)
def test_arguments_that_need_features_are_refused_without_them(spark, arguments, error, message):
    for action in (embed, estimate):
        with pytest.raises(error, match=message):
            action(frame(spark, "src string, dst string", ("a", "b")), **arguments)


def test_an_estimate_counts_feature_columns_with_lists_expanded(spark):
    edges = frame(spark, "src string, dst string", ("a", "b"))
    features = frame(spark, "id string, l array<float>, t string", ("a", [1.0, 2.0], "x"))
    plain, more = estimate(edges), estimate(edges, features=features)
    assert more.worker_bytes - plain.worker_bytes == 2 * 3 * 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "rows"}, "strategy must be one of 'auto', 'columns', 'blocks', got 'rows'"),
        ({"method": FastRP(threads=2)}, "Spark determines the number of threads"),
        ({"method": FastRP(dim=8), "like": EARLIER}, "dim is 8, but the embedding like= was made"),
        ({"method": FastRP(dim=4), "like": "vectors"}, "like must be an Embedding, got str"),
        ({"method": FastRP(dim=0)}, "dim must be"),
        ({"method": FastRP(precision="float16"), **BLOCKS}, "needs strategy='columns'"),
    ],
)
def test_parameters_that_spark_does_not_support_are_refused(spark, arguments, message):
    with pytest.raises(ParameterError, match=message):
        embed(frame(spark, "src string, dst string", ("a", "b")), **arguments)


def test_two_ids_with_the_same_key_are_refused_by_name(spark, colliding):
    edges = frame(spark, "src string, dst string", (colliding[0], "x"), ("x", colliding[1]))
    with pytest.raises(GraphError, match="have the same 64-bit key") as error:
        embed(edges)
    assert all(repr(name) in str(error.value) for name in colliding)


@pytest.fixture(scope="module")
def colliding():
    """Two strings of 16 ASCII characters with the same XXH64, seed 42.

    XXH64 mixes words of 8 bytes into the hash one after the other, each reversibly: for any first
    word, some second word gives the same hash, and one in 256 of those is ASCII.
    """
    p1, p2, p4 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x85EBCA77C2B2AE63
    mask, start = 2**64 - 1, (42 + 0x27D4EB2F165667C5 + 16) & (2**64 - 1)

    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def mixed(word):
        return rotate(word * p2 & mask, 31) * p1 & mask

    def unmixed(value):
        word = rotate(value * pow(p1, -1, 2**64) & mask, 64 - 31)
        return word * pow(p2, -1, 2**64) & mask

    def after(first):
        return (rotate(start ^ mixed(int.from_bytes(first, "little")), 27) * p1 + p4) & mask

    one = b"some-id-", b"12345678"
    goal = after(one[0]) ^ mixed(int.from_bytes(one[1], "little"))
    for number in range(10**6):
        first = f"{number:08d}".encode()
        second = unmixed(goal ^ after(first)).to_bytes(8, "little")
        if all(32 < byte < 127 for byte in second):
            return b"".join(one).decode(), (first + second).decode()
    raise AssertionError("no collision was found")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--loops", "drop"], "--spark does not support --loops"),
        (["--dtype", "float16"], "--spark does not support --dtype"),
        (["--like", "old.parquet", "--dim", "8"], "--like takes all parameters from its file"),
        (["--features-id", "who"], "--features-id needs --features"),
    ],
)
def test_options_that_spark_does_not_support_are_refused(options, message):
    done = CliRunner().invoke(
        hopvec, ["embed", "edges", "-o", "vectors", "--spark", "local", *options]
    )
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "randne"], "only FastRP is supported on Spark"),
        (["--feature-weight", "2"], "but the graph has no features"),
        (["--report", "missing/run.json"], "missing/run.json"),
    ],
)
def test_unsupported_methods_are_refused_before_spark_starts(monkeypatch, options, message):
    monkeypatch.setattr(on_spark, "_session", lambda master: pytest.fail("a session was started"))
    command = ["embed", "edges", "-o", "vectors", "--spark", "local", *options]
    done = CliRunner().invoke(hopvec, command)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A directory of tables, in which no session may be started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.setattr(on_spark, "_session", lambda master: pytest.fail("a session was started"))
    table = pa.table({"src": ["a"], "dst": ["b"]})
    for name in ("edges.parquet", "parts/part-0", "renamed.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        pq.write_table(table, name)
    for name in ("edges.txt", "texts/_SUCCESS", "texts/part-0.csv", "KNOWS.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("src,dst\na,b\n")


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ("edges.txt", [], "edges.txt: --spark reads Parquet, or CSV with a header if the name "
         "ends in .csv or .tsv. Convert or rename it first."),
        ("texts", [], "texts: --spark reads Parquet, or CSV with a header"),
        ("renamed.csv", [], "renamed.csv: this is Parquet, not CSV."),
        ("parts", ["--format", "csv"], "parts: this is Parquet, not CSV. Leave --format out"),
        ("missing.parquet", [], "missing.parquet: there is no such file."),
        ("edges.parquet", ["--nodes", "none.csv"], "none.csv: there is no such file."),
        ("edges.parquet", ["--features", "none.csv"], "none.csv: there is no such file."),
        ("edges.parquet", ["-o", "parts"], "parts exists already. Choose a new directory."),
        ("edges.parquet", ["-o", "-"], "--spark writes a directory"),
        ("edges.parquet", ["--nodes", "u=edges.txt"], "--spark reads --nodes from one file"),
        ("KNOWS=KNOWS.csv", [], "--spark reads one table of edges; use --relation COLUMN"),
        ("-", [], "--spark reads edges from a file or directory"),
        ("postgresql://host/db", [], "--spark reads edges from a file or directory"),
        ("parts", ["--strategy", "rows"], "'rows' is not one of 'auto', 'columns', 'blocks'"),
        ("parts", ["--strategy", "blocks", "--precision", "float16"],
         "--precision float16 needs --strategy columns on Spark"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used_are_refused_before_spark_starts(files, edges, options, message):
    command = ["embed", edges, "-o", "vectors", "--spark", "local", *options]
    done = CliRunner().invoke(hopvec, command)
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("master", "edges"),
    [
        ("local", "parts"),
        ("local", "par*"),
        ("local", "s3://bucket/edges"),
        ("yarn", "/on/hdfs"),
    ],
)
def test_paths_that_only_spark_can_check_are_left_to_it(files, edges, master):
    with pytest.raises(pytest.fail.Exception, match="a session was started"):
        CliRunner().invoke(
            hopvec, ["embed", edges, "-o", "vectors", "--spark", master], catch_exceptions=False
        )


def test_a_strategy_needs_spark(files):
    done = CliRunner().invoke(
        hopvec, ["embed", "edges.parquet", "-o", "v.npy", "--strategy", "blocks"]
    )
    assert done.exit_code == 2
    assert "--strategy needs --spark" in done.stderr


def test_orders_that_overflow_float32_are_refused_by_blocks_before_the_hops(spark):
    edges = frame(spark, "src int, dst int, weight double", (0, 1, 1e-30), (1, 2, 1e30))
    method = FastRP(passes=1, dim=8, beta=-1.0, sparsity=1, normalize="none")
    with pytest.raises(GraphError, match="Order 3 overflows float32"):
        embed(edges, method=method, **BLOCKS)
