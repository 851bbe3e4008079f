"""Everything that writes files, with what is promised of it.

Formats and stores come from their registries, so that a new one is tested from its first day.
"""

import gzip
import json
import sys
from contextlib import contextmanager
from io import BytesIO, StringIO

import numpy as np
import pyarrow as pa

import hopvec
from fault_injection.loop import Writer, contents, old_or_new
from file_server import FileServer
from hopvec import FastRP, Graph, HopvecError, evaluate, read_graph
from hopvec.cli.outputs import write_json
from hopvec.cli.program import hopvec as command_line
from hopvec.datasets.archive import write_archive
from hopvec.datasets.download import download
from hopvec.formats import EMBEDDING_FORMATS, blocks
from hopvec.formats.graphs.write import write_graph
from hopvec.formats.positions import write_positions
from hopvec.formats.table_files import RESULT_SUFFIXES, SUFFIXES, TableFile, write_tables
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.ids import number_nodes
from hopvec.stores import STORES, export
from hopvec.tuning.study import Study, Trial
from hopvec.view import draw_map
from saved_embeddings import random_embedding

ROWS, DIM = 400, 16
IDS = pa.array([f"n{number}" for number in range(ROWS)], pa.large_string())
GRAPH = Graph.from_edges(*np.random.default_rng(5).integers(0, 60, (2, 300)), nodes=range(70))
GRAPHS = (GRAPH, Graph.from_edges(*np.random.default_rng(6).integers(0, 60, (2, 300))))


def embedding(version):
    """An embedding of 25 kB, which formats write in several blocks."""
    blocks.BLOCK_BYTES = 4096
    return random_embedding(IDS, seed=version, dim=DIM)


def run_command(*arguments):
    """Run the command line in this process; an error of its user is raised as HopvecError."""
    sys.stderr = StringIO()
    try:
        command_line.main([*map(str, arguments)])
    except SystemExit as end:
        message = sys.stderr.getvalue()
        if end.code == 2 and "bug in hopvec" not in message and message.count("\n") < 3:
            raise HopvecError(message) from None
        if end.code:
            raise AssertionError(f"exit code {end.code}: {message}") from None


def without_first(found, old, new):
    """As `old_or_new`; between renames, the first file may be missing, and only that one."""
    if old_or_new(found, old, new):
        return True
    if not isinstance(found, dict):
        return False
    first = min({**old, **new}, key=lambda name: ".ids." in name or name.startswith("vectors.csv"))
    return first not in found


def format_writer(suffix):
    def write(directory, version):
        embedding(version).save(directory / f"vectors{suffix}")

    pair = without_first if suffix == ".npy" else None
    return Writer(f"embedding {suffix}", write, after_kill=pair)


def table_writer(suffix):
    def write(directory, version):
        table = pa.table({"source": IDS, "value": np.random.default_rng(version).random(ROWS)})
        path = directory / f"table{suffix}"
        write_tables(TableFile(path, table.schema, table.to_batches(max_chunksize=100)))

    return Writer(f"table {suffix}", write)


def graph_writer(suffix):
    def write(directory, version):
        write_graph(GRAPHS[version], directory / f"edges{suffix}")

    return Writer(f"graph {suffix}", write)


def write_held_out(directory, version):
    evaluate.hold_out(GRAPH, count=20, seed=version).save(
        directory / "links.csv", directory / "training.parquet"
    )


def held_out_after_kill(found, old, new):
    """Between the renames, the links may be missing."""
    return old_or_new(found, old, new) or (isinstance(found, dict) and "links.csv" not in found)


def write_generated(directory, version):
    output = directory / "random.parquet"
    run_command(
        "generate", "erdos-renyi", "--nodes", 60, "--edges", 200, "--seed", version, "-o", output
    )


def write_dataset(directory, version):
    ends = np.random.default_rng(version).integers(0, 50, (2, 90)).astype(np.int32)
    names = [f"n{number}" for number in range(50)]
    write_archive(directory, names, *ends, ["a" if n % 2 else None for n in range(50)])


def dataset_after_kill(found, old, new):
    return old_or_new(found, old, new) or (isinstance(found, dict) and "edges.npz" not in found)


def map_writer(suffix):
    def write(directory, version):
        vectors = random_embedding(seed=version, dim=4)
        draw_map(vectors, directory / f"map{suffix}", kind="pca", size=1.5, dpi=40)

    return Writer(f"map {suffix}", write, libraries=LIBRARIES["map"])


def positions_writer(suffix):
    def write(directory, version):
        path = directory / f"vectors{suffix}"
        if version == 0:
            embedding(0).save(path)
        write_positions(path, np.random.default_rng(version).random((ROWS, 2)))

    return Writer(f"layout {suffix}", write, initial_states=("old",))


LIBRARIES = {
    "neo4j": (),
    "qdrant": ("qdrant_client", "qdrant_client.local.qdrant_local"),
    "map": (
        "matplotlib.figure",
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "matplotlib.backends.backend_pdf",
        "matplotlib.font_manager",
    ),
}


def store_writer(name):
    location = {"duckdb": "graph.db", "faiss": "vectors.index", "neo4j": "import?id"}.get(
        name, name
    )

    def write(directory, version):
        target = f"{name}:{directory}/{location}"
        if name == "neo4j":
            target = f"neo4j:{directory}/import?Node=id"
        export(embedding(version), target)

    return Writer(
        f"store {name}",
        write,
        STORE_READERS.get(name, contents),
        after_kill=STORE_STATES.get(name),
        may_leave=STORE_LEAVES.get(name, lambda name: False),
        libraries=LIBRARIES.get(name, (name,)),
        retries_short_writes=name not in STORE_READERS,
    )


def read_duckdb(directory):
    import duckdb

    path = directory / "graph.db"
    if not path.exists():
        return None
    with duckdb.connect(str(path)) as connection:
        if not connection.execute("SELECT 1 FROM duckdb_tables()").fetchone():
            return None
        return connection.execute("SELECT * FROM vectors ORDER BY id").fetchall()


def read_lancedb(directory):
    import lancedb

    path = directory / "lancedb"
    if not (path / "vectors.lance").exists():
        return None
    table = lancedb.connect(str(path)).open_table("vectors")
    return table.to_arrow().to_pylist()


def read_qdrant(directory):
    from qdrant_client import QdrantClient

    path = directory / "qdrant"
    if not (path / "meta.json").exists():
        return None
    client = QdrantClient(path=str(path))
    try:
        if not client.get_aliases().aliases:
            return None
        points, _ = client.scroll("vectors", limit=2 * ROWS, with_vectors=True)
        return sorted((point.payload["id"], tuple(point.vector)) for point in points)
    finally:
        client.close()


STORE_READERS = {"duckdb": read_duckdb, "lancedb": read_lancedb, "qdrant": read_qdrant}
STORE_STATES = {
    "faiss": lambda found, old, new: (
        old_or_new(found, old, new) or (isinstance(found, dict) and "vectors.index" not in found)
    ),
    "neo4j": lambda found, old, new: (
        old_or_new(found, old, new)
        or (isinstance(found, dict) and "import/load.cypher" not in found)
    ),
}
STORE_LEAVES = {
    "duckdb": lambda name: name.endswith(".wal"),  # the log that DuckDB replays
    "lancedb": lambda name: name.startswith("lancedb/vectors.lance/"),  # of versions not committed
    "qdrant": lambda name: name.startswith("qdrant/"),
}


def spilling(method):
    """A writer of an embedding whose vectors do not fit in memory."""

    def write(directory, version):
        chosen = method(version).set_params(spill_dir=directory)
        plan = chosen.plan(GRAPH)
        while plan.output == "memory":
            plan = chosen.set_params(memory=int(0.99 * plan.bytes.total)).plan(GRAPH)
        chosen.embed(GRAPH, plan=plan).save(directory / "vectors.npy")

    def read(directory):
        found = contents(directory)
        return {name: found[name] for name in found if not name.startswith("vectors.ids")}

    return write, read


def spill_writer(name, method):
    write, read = spilling(method)
    return Writer(f"spill files of {name}", write, read, after_kill=without_first)


def read_and_embed(directory, version):
    """Edges that are read with a memory limit, so that they and the graph are in spill files."""
    path = directory.parent / f"edges{version}.parquet"
    if not path.exists():
        source, target = np.random.default_rng(version).integers(0, 900, (2, 150_000))
        table = pa.table({"source": source, "target": target})
        write_tables(TableFile(path, table.schema, table.to_batches()))
    graph = read_graph(path, memory="9MB", spill_dir=directory)
    FastRP(dim=8, passes=1).embed(graph).save(directory / "vectors.parquet")


def build_in_files(directory, version):
    """A graph whose arrays are built in spill files, a range of rows at a time."""
    ends = np.random.default_rng(version).integers(0, 100, (2, 900)).astype(np.int32)
    graph = from_numbered_edges(
        number_nodes(*ends, None),
        None,
        directed=False,
        duplicates="sum",
        loops="keep",
        threads=2,
        memory_limit=2000,
        in_file=True,
        spill_dir=directory,
    )
    FastRP(dim=8, passes=1).embed(graph).save(directory / "vectors.parquet")


def read_compressed_archive(directory, version):
    """A compressed archive, which is copied to a temporary file to be read."""
    ends = np.random.default_rng(version).integers(0, 200, (2, 3000)).astype(np.int32)
    path = directory.parent / f"edges{version}.npz.gz"
    if not path.exists():
        plain = BytesIO()
        np.savez(plain, n=200, src=ends[0], dst=ends[1])
        path.write_bytes(gzip.compress(plain.getvalue()))
    output = directory / "vectors.parquet"
    run_command("embed", path, "-o", output, "--dim", 8, "--spill-dir", directory)


def write_snapshots(directory, version):
    path = directory.parent / "edges.csv"
    if not path.exists():
        random = np.random.default_rng(1)
        table = pa.table(
            {
                "source": random.integers(0, 40, 400),
                "target": random.integers(0, 40, 400),
                "day": [f"2024-01-{day:02}" for day in random.integers(1, 29, 400)],
            }
        )
        write_tables(TableFile(path, table.schema, table.to_batches()))
    hopvec.embed_snapshots(
        path,
        directory / "snapshots",
        method=FastRP(dim=8, seed=version),
        time="day",
        every="10d",
        window="10d",
        force=version == 1,
    )


def finished_windows(found, old, new):
    """Every file is missing, or whole; the manifest is JSON."""
    if not isinstance(found, dict):
        return False
    for name, data in found.items():
        if name.endswith("snapshots.json"):
            json.loads(data)
        elif data not in (old.get(name), new.get(name)):
            return False
    return True


def write_study(directory, version):
    path = directory / "study.jsonl"
    with Study(path, {"method": "FastRP"}) as study:
        for number in range(len(study.trials) + 1, 3 + 2 * version):
            study.add(Trial(number, {"beta": -0.1 * number}, 0.5, 0.1))


def read_study(directory):
    path = directory / "study.jsonl"
    if not path.exists():
        return []
    with Study(path, {"method": "FastRP"}) as study:
        return [trial.number for trial in study.trials]


def finished_trials(found, old, new):
    """No trial is lost that was there before, and none is invented."""
    return isinstance(found, list) and found == new[: len(found)] and len(found) >= len(old)


@contextmanager
def serving():
    """A server of a file for downloads."""
    server = FileServer(np.random.default_rng(1).bytes(40_000))
    URLS[:] = [server.url]
    try:
        yield
    finally:
        server.stop()


URLS = []


def write_download(directory, version):
    if version == 0:
        (directory / "other").write_text("")
        return
    download(URLS[0], directory / "graph.mat", attempts=2, pause=0.0)


def read_download(directory):
    path = directory / "graph.mat"
    return path.read_bytes() if path.exists() else None


def is_part(name):
    return name in ("graph.mat.part", "graph.mat.part.json", "graph.mat.sha256")


WRITERS = [
    *(format_writer(suffix) for suffix in EMBEDDING_FORMATS),
    *(table_writer(suffix) for suffix in RESULT_SUFFIXES),
    *(graph_writer(suffix) for suffix in SUFFIXES),
    Writer("held-out links", write_held_out, after_kill=held_out_after_kill),
    Writer("generated graph", write_generated),
    Writer("dataset", write_dataset, after_kill=dataset_after_kill),
    Writer(
        "JSON", lambda directory, version: write_json(directory / "a.json", {"é": [version] * 9000})
    ),
    *(map_writer(suffix) for suffix in (".png", ".svg", ".pdf")),
    *(positions_writer(suffix) for suffix in (".parquet", ".arrow")),
    *(store_writer(name) for name in STORES if name != "postgresql"),
    spill_writer("one pass", lambda version: FastRP(dim=64, passes=1, seed=version)),
    spill_writer("three passes", lambda version: FastRP(dim=64, passes=3, seed=version)),
    spill_writer(
        "compression", lambda version: FastRP(dim=64, passes=1, oversample=2, seed=version)
    ),
    Writer("spill files of reading", read_and_embed),
    Writer("spill files of a graph", build_in_files),
    Writer("spill files of an archive", read_compressed_archive),
    Writer(
        "snapshots",
        write_snapshots,
        allowed=finished_windows,
        may_leave=lambda name: name.startswith("snapshots/"),
    ),
    Writer("study", write_study, read_study, allowed=finished_trials),
    Writer(
        "download",
        write_download,
        read_download,
        may_leave=is_part,
        server=serving,
    ),
]
