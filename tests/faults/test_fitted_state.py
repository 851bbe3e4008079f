"""A damaged fitted state is refused when it is loaded, not believed by the next run."""

import json
from base64 import b64encode
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec import FastRP, FormatError, Graph, ParameterError

rng = np.random.default_rng(0)
GRAPH = Graph.from_edges(*rng.integers(0, 60, (2, 300)))
FEATURES = GRAPH.with_features({"id": GRAPH.ids, "age": np.arange(60), "kind": ["a", "b"] * 30})
RUNS = {
    "one pass": (FastRP(dim=8, passes=1), GRAPH),
    "oversample": (FastRP(dim=8, passes=1, oversample=2), GRAPH),
    "oversampled sum": (FastRP(dim=8, passes=1, oversample=2, normalize="none"), GRAPH),
    "passes": (FastRP(dim=8), GRAPH),
    "degrees": (FastRP(dim=8, degree_weight=1.0), GRAPH),
    "features": (FastRP(dim=8), FEATURES),
    "authors": (FastRP(dim=8, passes=1, normalize="authors"), GRAPH),
    "none": (FastRP(dim=8, passes=1, normalize="none"), GRAPH),
    "gaussian": (FastRP(dim=8, projection="gaussian"), GRAPH),
    "no edges": (FastRP(dim=8, self_weight=1), Graph.from_edges([], [], nodes=5)),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs")
    for name, (method, graph) in RUNS.items():
        method.embed(graph).save(directory / f"{name}.parquet")
    return directory


def encoded(*numbers, dtype="<f8"):
    return b64encode(np.array(numbers, dtype).tobytes()).decode()


def change(path, to, steps, value):
    """Copy a file with one value of its fitted state replaced."""
    table = pq.read_table(path)
    metadata = json.loads(table.schema.metadata[b"hopvec"])
    part = metadata["fitted_state"]
    for step in steps[:-1]:
        part = part[step]
    assert steps[-1] in part or isinstance(part, list)
    part[steps[-1]] = value
    pq.write_table(table.replace_schema_metadata({"hopvec": json.dumps(metadata)}), to)


@pytest.mark.parametrize("run", RUNS)
def test_the_state_of_every_kind_of_run_is_loaded(saved, run):
    method, graph = RUNS[run]
    again = hopvec.load(saved / f"{run}.parquet")
    if graph.entries:
        same = method.embed(graph, like=again)
        assert np.allclose(same.vectors, again.vectors, atol=1e-6)


NUMBERS = [0.0, -5, float("nan"), float("inf"), "x", None, [1], True, 1e300]
DAMAGE = [
    *(("passes", ("volume",), value) for value in NUMBERS if value != 1e300),
    *(("passes", ("sparsity",), value) for value in NUMBERS if value is not None),
    ("one pass", ("columns",), {"mean": "", "factor": ""}),
    ("one pass", ("columns",), {"mean": encoded(0), "factor": encoded(1)}),
    ("one pass", ("columns", "mean"), encoded(0, 0)),
    ("one pass", ("columns", "mean"), encoded(*[float("nan")] * 8)),
    ("one pass", ("columns", "factor"), encoded(*[-1.0] * 8)),
    ("one pass", ("columns", "mean"), encoded(*[1e308] * 8)),
    ("one pass", ("columns", "mean"), encoded(*[1e29] * 8)),
    ("one pass", ("columns", "factor"), encoded(*[1e308] * 8)),
    ("degrees", ("degree_factors",), encoded(1e308)),
    ("passes", ("components", "basis"), encoded(*[1e38] * 64, dtype="<f4")),
    ("one pass", ("columns", "factor"), "not base64"),
    ("one pass", ("columns", "factor"), 5),
    ("one pass", ("columns",), "text"),
    ("oversample", ("components", "width"), 1),
    ("oversample", ("components", "width"), 7),
    ("oversample", ("components", "width"), "x"),
    ("oversample", ("components", "basis"), encoded(*[0] * 4, dtype="<f4")),
    ("oversample", ("components", "columns"), {"mean": encoded(0), "factor": encoded(1)}),
    ("oversample", ("columns",), {"mean": encoded(0), "factor": encoded(1)}),
    ("passes", ("earlier_passes", 0, "components", "width"), 4),
    ("passes", ("earlier_passes", 0), {}),
    ("passes", ("earlier_passes", 0, "columns"), None),
    ("passes", ("earlier_passes",), 3),
    ("passes", ("refine_weights",), ["x"]),
    ("degrees", ("degree_factors",), encoded(1, 2, 3)),
    ("degrees", ("degree_factors",), encoded(float("inf"))),
    ("features", ("features", "mean"), encoded(1, 2, 3)),
    ("features", ("features", "deviation"), encoded(-1)),
    ("features", ("features", "numbers"), [5]),
]


@pytest.mark.parametrize(("run", "steps", "value"), DAMAGE, ids=str)
def test_a_damaged_state_is_refused(saved, tmp_path, run, steps, value):
    path = tmp_path / "vectors.parquet"
    change(saved / f"{run}.parquet", path, steps, value)
    with pytest.raises(FormatError, match=r"vectors\.parquet: cannot be read as an embedding \("):
        hopvec.load(path)


@pytest.mark.parametrize(
    ("run", "part"),
    [
        ("one pass", "columns"),
        ("oversample", "columns"),
        ("oversample", "components"),
        ("passes", "columns"),
        ("passes", "components"),
        ("passes", "earlier_passes"),
        ("degrees", "degree_factors"),
    ],
)
def test_a_state_that_lacks_what_its_parameters_need_is_not_shared(saved, run, part):
    like = hopvec.load(saved / f"{run}.parquet")
    state = like.fitted_state
    empty = () if part == "earlier_passes" else None
    if part == "earlier_passes":
        state = replace(state, earlier_passes=empty)
    else:
        state = replace(state, statistics=replace(state.statistics, **{part: empty}))
    method, graph = RUNS[run]
    with pytest.raises(ParameterError, match="the fitted state of like= is incomplete"):
        method.embed(graph, like=replace(like, fitted_state=state))


@pytest.mark.parametrize("text", ["[]", '{"parameters": 5}', '{"graph": "x"}', "{", "null"])
def test_metadata_of_another_kind_are_refused(saved, tmp_path, text):
    path = tmp_path / "vectors.parquet"
    table = pq.read_table(saved / "passes.parquet")
    pq.write_table(table.replace_schema_metadata({"hopvec": text}), path)
    with pytest.raises(FormatError, match=r"vectors\.parquet: cannot be read as an embedding \("):
        hopvec.load(path)
