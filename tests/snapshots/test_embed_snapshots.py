"""embed_snapshots: windows, comparable vectors, resumed runs, and directories of other runs."""

import errno
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopvec import (
    FastRP,
    FormatError,
    GraphError,
    ParameterError,
    embed_snapshots,
    evaluate,
    load,
    read_graph,
)
from hopvec.graph.times import DAY, parse_time
from hopvec.snapshots.windows import make_windows

METHOD = {"dim": 16, "seed": 3}
WINDOWS = {"time": "day", "every": "7d", "window": "14d"}


def write_edges(path, count=3000, nodes=120, days=60, start="2024-01-01", seed=1):
    """Edges with days in random order, as a Parquet file."""
    rng = np.random.default_rng(seed)
    first = parse_time("", "", start) // DAY
    table = pa.table(
        {
            "source": [f"n{number}" for number in rng.integers(0, nodes, count)],
            "target": [f"n{number}" for number in rng.integers(0, nodes, count)],
            "weight": rng.random(count) + 0.1,
            "day": pa.array(first + rng.integers(0, days, count), pa.int32()).cast(pa.date32()),
        }
    )
    pq.write_table(table, path)
    return table


def run(folder, output="snapshots", method=METHOD, **options):
    return embed_snapshots(
        folder / "edges.parquet", folder / output, method=FastRP(**method), **WINDOWS | options
    )


def contents(folder):
    """The bytes of all files of a directory by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def folder(tmp_path):
    write_edges(tmp_path / "edges.parquet")
    return tmp_path


@pytest.mark.parametrize("half_life", [None, "5d"])
def test_a_snapshot_is_the_embedding_of_its_window_like_the_first(folder, half_life):
    found = run(folder, half_life=half_life)
    ends = [f"2024-01-{day:02}" for day in (15, 22, 29)]
    ends += [f"2024-02-{day:02}" for day in (5, 12, 19, 26)] + ["2024-03-04"]
    assert [one.window for one in found.windows] == ends
    first = load(folder / "snapshots" / "2024-01-15.parquet")
    for one in found.windows:
        options = {"time": "day", "since": one.start, "until": one.end}
        if half_life:
            options |= {"half_life": half_life, "as_of": one.end}
        graph = read_graph(folder / "edges.parquet", **options)
        like = {} if one.window == "2024-01-15" else {"like": first}
        expected = FastRP(**METHOD).embed(graph, **like)
        snapshot = load(one.path)
        assert snapshot.ids.equals(expected.ids)
        assert snapshot.vectors.tobytes() == expected.vectors.tobytes()
        assert (one.nodes, one.edges) == (graph.nodes, graph.edges)


def test_any_two_snapshots_are_comparable_and_the_table_has_their_movement(folder, caplog):
    found = run(folder)
    caplog.clear()
    last, before = load(found.windows[-1].path), load(found.windows[-2].path)
    evaluate.movement(load(found.windows[0].path), last)
    assert not caplog.records  # no warning that they are not aligned
    moved = evaluate.movement(before, last)
    row = found.windows[-1]
    assert (row.in_both, row.added, row.removed) == (len(moved.ids), moved.added, moved.removed)
    assert row.mean_cosine == pytest.approx(float(moved.cosines.mean()), abs=1e-5)
    assert row.median_cosine == pytest.approx(float(np.median(moved.cosines)), abs=1e-5)
    assert found.windows[0].mean_cosine is None
    lines = (folder / "snapshots" / "movement.csv").read_text().splitlines()
    assert len(lines) == 1 + len(found.windows)
    assert lines[0].startswith("window,start,end,nodes,edges,in_both,added,removed,mean_cosine")
    assert found.to_arrow().num_rows == len(found.windows)
    assert str(found) == "Snapshots(8 of 8 windows, 2024-01-15 to 2024-03-04)"


def test_the_bytes_do_not_depend_on_memory_threads_or_the_order_of_the_input(folder):
    run(folder)
    table = pq.read_table(folder / "edges.parquet")
    shuffled = table.take(np.random.default_rng(2).permutation(len(table)))
    pq.write_table(shuffled, folder / "edges.parquet", row_group_size=100)
    run(folder, "one", METHOD | {"threads": 1, "memory": "12MB"})
    assert contents(folder / "one") == contents(folder / "snapshots")


@pytest.mark.parametrize("finished", [0, 1, 4, 8])
def test_a_run_that_failed_is_resumed_with_the_same_bytes(folder, monkeypatch, finished):
    run(folder, "whole", dtype="float16")
    calls = []
    embed = FastRP.embed

    def failing(self, *arguments, **options):
        calls.append(options)
        if len(calls) > finished:
            raise KeyboardInterrupt
        return embed(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(FastRP, "embed", failing)
        if finished < 8:
            with pytest.raises(KeyboardInterrupt):
                run(folder, dtype="float16")
        else:
            run(folder, dtype="float16")
            (folder / "snapshots" / "movement.csv").unlink()
        calls.clear()
        patch.setattr(FastRP, "embed", lambda *a, **k: calls.append(k) or embed(*a, **k))
        run(folder, dtype="float16")
    assert len(calls) == 8 - finished
    assert contents(folder / "snapshots") == contents(folder / "whole")


def test_new_edges_change_only_the_windows_that_they_belong_to(folder):
    old = write_edges(folder / "edges.parquet", days=40)
    run(folder)
    before = {path: path.stat().st_mtime_ns for path in (folder / "snapshots").glob("*.parquet")}
    new = write_edges(folder / "new.parquet", 500, start="2024-02-12", days=10, seed=9)
    pq.write_table(pa.concat_tables([old, new]), folder / "edges.parquet")
    run(folder)
    unchanged = [path.stem for path, time in before.items() if path.stat().st_mtime_ns == time]
    first = [f"2024-01-{day}" for day in (15, 22, 29)]
    assert sorted(unchanged) == [*first, "2024-02-05", "2024-02-12"]
    run(folder, "again")
    assert contents(folder / "again") == contents(folder / "snapshots")


def test_new_edges_in_the_first_window_are_refused(folder):
    run(folder)
    old = pq.read_table(folder / "edges.parquet")
    pq.write_table(pa.concat_tables([old, old.slice(0, 500)]), folder / "edges.parquet")
    with pytest.raises(GraphError, match="the edges of the first window have changed"):
        run(folder)
    run(folder, force=True)
    run(folder, "again")
    assert contents(folder / "again") == contents(folder / "snapshots")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"window": "21d"}, "made with window='14d', not '21d'"),
        ({"unweighted": True}, "made with unweighted=None, not True"),
        ({"method": {"dim": 8, "seed": 3}}, "made with dim=16, not 8"),
        ({"since": "2024-01-03"}, "made with since=None, not '2024-01-03'"),
    ],
)
def test_a_directory_of_other_options_is_refused_or_replaced(folder, change, message):
    run(folder)
    before = contents(folder / "snapshots")
    with pytest.raises(ParameterError, match=message):
        run(folder, **change)
    assert contents(folder / "snapshots") == before
    run(folder, **change, force=True)
    run(folder, "again", **change)
    assert contents(folder / "snapshots") == contents(folder / "again")


def test_windows_without_edges_are_reported_and_skipped(tmp_path, caplog):
    rows = ["a,b,2024-01-01", "b,c,2024-01-02", "a,c,2024-02-01", "c,d,2024-02-01"]
    (tmp_path / "edges.csv").write_text("source,target,day\n" + "\n".join(rows) + "\n")
    found = embed_snapshots(
        tmp_path / "edges.csv",
        tmp_path / "out",
        method=FastRP(dim=4),
        time="day",
        every="7d",
        window="7d",
    )
    made = {one.window: one.path is not None for one in found.windows}
    assert list(made.values()) == [True, False, False, False, True]
    assert "3 windows have no edges and no snapshot: 2024-01-15, 2024-01-22, " in caplog.text
    assert (found.windows[-1].in_both, found.windows[-1].added) == (2, 1)
    again = embed_snapshots(
        tmp_path / "edges.csv",
        tmp_path / "out",
        method=FastRP(dim=4),
        time="day",
        every="7d",
        window="7d",
    )
    assert again.windows == found.windows


@pytest.mark.parametrize(("first", "last"), [("1", "x"), ("1.0", "2.0"), ("1", "2")])
def test_ids_have_the_same_type_in_all_windows(tmp_path, first, last):
    rows = [f"{first},{first},2024-01-01", f"{last},{last},2024-01-09"]
    (tmp_path / "edges.csv").write_text("source,target,day\n" + "\n".join(rows) + "\n")
    options = {"method": FastRP(dim=4), "time": "day", "every": "7d", "window": "7d"}
    found = embed_snapshots(tmp_path / "edges.csv", tmp_path / "out", **options)
    expected = read_graph(tmp_path / "edges.csv", time="day").ids.type
    assert [load(one.path).ids.type for one in found.windows] == [expected] * 2


def test_relations_and_prefixes_are_those_of_read_graph(tmp_path):
    rows = ["1,1,KNOWS,2024-01-01", "1,2,LIKES,2024-01-02", "2,1,KNOWS,2024-01-09"]
    (tmp_path / "edges.csv").write_text("user,item,kind,day\n" + "\n".join(rows) + "\n")
    reading = {"time": "day", "relation": "kind", "prefixes": ("u", "i"), "bipartite": True}
    found = embed_snapshots(
        tmp_path / "edges.csv",
        tmp_path / "out",
        method=FastRP(dim=4),
        every="7d",
        window="7d",
        **reading,
    )
    assert load(found.windows[1].path).ids.to_pylist() == ["i1", "u2"]
    graph = read_graph(tmp_path / "edges.csv", until="2024-01-08", **reading)
    expected = FastRP(dim=4).embed(graph)
    assert load(found.windows[0].path).vectors.tobytes() == expected.vectors.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": None}, "time= is needed"),
        ({"half_life": "7d", "as_of": "2024-03-01"}, "leave as_of= out"),
        ({"memory": "1GB"}, "memory= is that of the method"),
        ({"every": "7"}, "every must be a positive duration"),
        ({"every": "1s"}, "makes 3,888,002 windows of these edges"),
    ],
)
def test_invalid_options_are_refused(folder, options, message):
    with pytest.raises(ParameterError, match=message):
        run(folder, **options)


def test_methods_whose_vectors_cannot_be_compared_are_refused(folder):
    from hopvec import RandNE

    with pytest.raises(ParameterError, match="the vectors of RandNE cannot be compared"):
        embed_snapshots(folder / "edges.parquet", folder / "out", method=RandNE(), **WINDOWS)


def test_the_manifest_of_another_program_is_refused(folder):
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "snapshots.json").write_text(json.dumps([1]))
    with pytest.raises(Exception, match=r"snapshots\.json: this is not the manifest"):
        run(folder)


def test_nothing_but_results_is_left_in_the_directory(folder):
    names = {Path(name).suffix for name in contents(run(folder).directory)}
    assert names == {".parquet", ".csv", ".json"}


@pytest.mark.parametrize(
    ("oldest", "newest", "every", "window", "since", "ends"),
    [
        ("2024-01-01T05:00", "2024-01-01T06:00", 7, 7, None, ["2024-01-08"]),
        ("2024-01-01T05:00", "2024-01-07T23:59:59.9", 7, 7, None, ["2024-01-08"]),
        ("2024-01-01T05:00", "2024-01-08", 7, 7, None, ["2024-01-08", "2024-01-15"]),
        ("2024-01-01", "2024-01-20", 14, 7, None, ["2024-01-08", "2024-01-22"]),
        ("2024-01-03", "2024-01-04", 7, 7, "2024-01-01", ["2024-01-08"]),
        ("2024-01-01T05:30", "2024-01-01T06:10", 1 / 24, 1 / 24, None,
         ["2024-01-01T06-00-00Z", "2024-01-01T07-00-00Z"]),
    ],
)  # fmt: skip
def test_windows_go_from_the_oldest_edge_to_the_first_end_after_the_newest(
    oldest, newest, every, window, since, ends
):
    windows = make_windows(
        parse_time("", "", oldest),
        parse_time("", "", newest),
        every=round(every * DAY),
        window=round(window * DAY),
        since=None if since is None else parse_time("", "", since),
    )
    assert [one.name for one in windows] == ends
    assert all(one.end - one.start == round(window * DAY) for one in windows)


def test_types_of_nodes_are_those_of_read_graph(tmp_path):
    rows = ["1,1,2024-01-01", "1,2,2024-01-02", "2,1,2024-01-09"]
    (tmp_path / "edges.csv").write_text("user,item,day\n" + "\n".join(rows) + "\n")
    (tmp_path / "nodes.csv").write_text("id,kind\n7,item\n")
    header = ":START_ID(Person),:END_ID(Movie),day\n"
    (tmp_path / "neo4j.csv").write_text(header + "\n".join(rows) + "\n")
    windows = {"method": FastRP(dim=4), "time": "day", "every": "7d", "window": "7d"}
    prefixes = {"bipartite": True, "prefixes": ("user:", "item:")}
    nodes = {"nodes": tmp_path / "nodes.csv", "node_type": "kind"}
    found = embed_snapshots(
        tmp_path / "edges.csv", tmp_path / "out", **windows, **prefixes, **nodes
    )
    last = load(found.windows[1].path)
    assert dict(zip(last, last.types.to_pylist(), strict=True)) == {
        "item:1": "item",
        "item:7": "item",
        "user:2": "user",
    }
    found = embed_snapshots(tmp_path / "neo4j.csv", tmp_path / "spaces", **windows)
    last = load(found.windows[1].path)
    types = dict(zip(last, last.types.to_pylist(), strict=True))
    assert types == {"Movie:1": "Movie", "Person:2": "Person"}


def test_a_full_disk_is_reported_with_the_spill_directory(folder, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pa.ipc, "new_file", full)
    with pytest.raises(FormatError, match=r"spill directory .*snapshots: .*No space left"):
        run(folder)
