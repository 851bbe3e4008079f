"""Every option of FastRP on Spark and on one machine: python -m benchmarks.spark_options.

Runs on local-cluster[2,1,1024], two executor processes of one core. For each option and strategy,
the vectors are compared with those of one machine: "same bytes", or the largest error of a row
relative to its length.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import machine
from benchmarks.processes import RESULTS, log
from hopvec import FastRP, Graph

NODES, EDGES = 5000, 15000
STRATEGIES = ("columns", "blocks")
SAME = "same bytes"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ORDER_0 = {"self_weight": 0.5, "sparsity": 3.0}


@dataclass(frozen=True)
class Case:
    """An option, and the graph that it needs."""

    option: str
    parameters: Mapping[str, Any]
    graph: Mapping[str, Any] = field(default_factory=dict)
    """How the edges are read, on Spark and on one machine."""
    features: bool = False
    like: bool = False


DIRECTED = {"directed": True}
RELATIONS = {"relation": "kind", "relation_direction": "LIKES=out"}
CASES = (
    Case("dim=40", {"dim": 40}),
    Case("seed=9", {"seed": 9}),
    Case("weights=(1, 0, 2)", {"weights": (1, 0, 2)}),
    Case("beta=-0.5", {"beta": -0.5}),
    Case('projection="gaussian"', {"projection": "gaussian"}),
    Case("sparsity=3", {"sparsity": 3}),
    Case("self_weight=0.5, sparsity=3", ORDER_0),
    Case("features, feature_weight=2", {"feature_weight": 2.0}, features=True),
    Case('normalize="none"', {"normalize": "none"}),
    Case('normalize="orders"', {"normalize": "orders"}),
    Case('normalize="authors"', {"normalize": "authors"}),
    Case("passes=3", {"passes": 3}),
    Case("passes=2, refine_weights=(0, 1)", {"passes": 2, "refine_weights": (0, 1)}),
    Case("oversample=2", {"oversample": 2}),
    Case("passes=2, spectrum=0.3", {"passes": 2, "spectrum": 0.3}),
    Case("degree_weight=0.5", {"degree_weight": 0.5}),
    Case('direction="in"', {"direction": "in", **ORDER_0}, DIRECTED),
    Case('direction="both"', {"direction": "both"}, DIRECTED),
    Case(
        'direction="concat", degree_weight=0.5, passes=2',
        {"direction": "concat", "degree_weight": 0.5, "passes": 2},
        DIRECTED,
    ),
    Case('relations="merge"', {}, {"relation": "kind", "relation_balance": "node"}),
    Case('relations="concat", passes=2', {"relations": "concat", "passes": 2}, RELATIONS),
    Case(
        'relations="concat", direction="concat"',
        {"relations": "concat", "direction": "concat", "dim": 64},
        RELATIONS,
    ),
    Case('precision="float16"', {"precision": "float16"}),
    Case("like=, passes=2", {"passes": 2}, like=True),
)


def main() -> None:
    """Run all cases, and write the results after each."""
    session = start_session()
    options: dict[str, dict[str, Any]] = {}
    found = {"machine": machine.describe(), "nodes": NODES, "edges": EDGES, "options": options}
    try:
        for case in CASES:
            options[case.option] = {name: compare(session, case, name) for name in STRATEGIES}
            log(f"{case.option}: {options[case.option]}")
            (RESULTS / "spark_options.json").write_text(json.dumps(found, indent=2) + "\n")
    finally:
        session.stop()


def start_session() -> Any:
    """A session on two executor processes."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("options")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.warehouse.dir": tempfile.gettempdir(),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def edges() -> pa.Table:
    """Weighted edges of a skewed graph with two relations, with duplicates and loops."""
    random = np.random.default_rng(5)
    ends = (NODES * random.random((2, EDGES)) ** [[2], [1]]).astype(int)
    ends[0, :NODES] = np.arange(NODES)
    ends[1, :20] = ends[0, :20]
    ends[:, NODES : NODES + 50] = ends[:, NODES + 50 : NODES + 100]
    columns = {"src": ends[0], "dst": ends[1], "weight": np.exp(4 * random.random(EDGES))}
    return pa.table({**columns, "kind": random.choice(["KNOWS", "LIKES"], EDGES)})


def features() -> pa.Table:
    """A number and a category of every second node."""
    random, ids = np.random.default_rng(6), np.arange(0, NODES, 2)
    city = random.choice(["Ulm", "Bern"], len(ids))
    return pa.table({"id": ids, "size": random.normal(50, 9, len(ids)), "city": city})


def compare(session: Any, case: Case, strategy: Any) -> str | float | None:
    """How the vectors on Spark differ from those of one machine; None if Spark refuses."""
    from hopvec import ParameterError
    from hopvec.spark import embed

    table = edges() if "relation" in case.graph else edges().drop_columns(["kind"])
    method = FastRP(**{"dim": 32, "seed": 3, "passes": 1, "weights": (0, 1, 1), **case.parameters})
    graph = Graph.from_arrow(table, **case.graph)
    graph = graph.with_features(features()) if case.features else graph
    earlier = Graph.from_arrow(table[: EDGES - 2000], **case.graph)
    like = method.embed(earlier) if case.like else None
    expected = method.embed(graph, like=like)
    try:
        frame = embed(
            session.createDataFrame(table),
            method=method,
            strategy=strategy,
            features=session.createDataFrame(features()) if case.features else None,
            like=like,
            **case.graph,
        )
    except ParameterError as error:
        log(str(error))
        return None
    found = frame.toArrow().sort_by("id")
    rows = found["embedding"].combine_chunks().flatten().to_numpy().reshape(len(found), -1)
    assert found["id"].to_pylist() == expected.ids.to_pylist()
    if rows.tobytes() == expected.vectors.tobytes():
        return SAME
    return relative_error(rows, expected.vectors)


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest distance of a row from the expected one, relative to its length."""
    length = np.linalg.norm(expected, axis=1)
    return float(np.max(np.linalg.norm(found - expected, axis=1) / np.where(length > 0, length, 1)))


if __name__ == "__main__":
    main()
