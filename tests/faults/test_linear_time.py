"""Every reader takes time in proportion to the size of its file, whatever the file has much of."""

import gc
from contextlib import suppress
from time import process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

import hopvec
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.formats.features import read_features
from hopvec.formats.graphs.nodes import read_nodes
from hopvec.formats.graphs.read import GRAPH_FORMATS
from hopvec.formats.labels.read import LABEL_FORMATS

SMALL, FACTOR = 10_000, 6


def graphml(inside):
    return f'<graphml><graph edgedefault="undirected">{inside}</graph></graphml>'


def mtx(comments, entries):
    header = "%%MatrixMarket matrix coordinate pattern general\n"
    return f"{header}{comments}9 9 {len(entries) // 4}\n{entries}"


# By the reader, the format and the name of a file: a text, or a function that writes the file.
GRAPHS = {
    ("text", "lines.csv"): lambda n: "source,target\n" + "a,b\n" * n,
    ("text", "comments.csv"): lambda n: "source,target\n" + "# nothing\n" * n + "a,b\n",
    ("text", "spaces.txt"): lambda n: "a" + " " * min(n, 1 << 19) + "b\n" + "a b\n" * n,
    ("text", "id.csv"): lambda n: "source,target\n" + "a" * 10 * n + ",b\n",
    ("text", "columns.csv"): lambda n: ",".join(f"c{k}" for k in range(n // 20)) + "\n",
    ("adjacency", "list.adjlist"): lambda n: "a " + " ".join(f"b{k}" for k in range(n)) + "\n",
    ("gml", "open-quote.gml"): lambda n: 'graph [\n node [ id 0 label "' + "a\n" * n,
    ("gml", "long-label.gml"): lambda n: 'graph [\n node [ id 0 label "' + "a\n" * n + '" ]\n]\n',
    ("gml", "deep.gml"): lambda n: "graph [\n node [ id 0 " + "x [\n" * n + "]\n" * n + "] ]\n",
    ("gml", "nodes.gml"): lambda n: (
        "graph [\n" + "".join(f"node [ id {k} ]\n" for k in range(n)) + "]\n"
    ),
    ("graphml", "text.graphml"): lambda n: graphml(
        "<desc>" + "a\n" * n + '</desc><edge source="a" target="b"/>'
    ),
    ("graphml", "id.graphml"): lambda n: graphml(f'<edge source="{"a" * n}" target="b"/>'),
    ("graphml", "edges.graphml"): lambda n: graphml('<edge source="a" target="b"/>' * n),
    ("graphml", "keys.graphml"): lambda n: (
        "<graphml>"
        + "".join(f'<key id="d{k}" for="edge" attr.name="a{k}"/>' for k in range(n))
        + '<graph edgedefault="directed"/></graphml>'
    ),
    ("graphml", "deep.graphml"): lambda n: graphml("<x>" * n + "</x>" * n),
    ("matrix-market", "entries.mtx"): lambda n: mtx("", "1 2\n" * n),
    ("matrix-market", "comments.mtx"): lambda n: mtx("% a\n" * n, "1 2\n"),
    ("columnar", "edges.parquet"): lambda n: table_of(source=n, target=n),
    ("columnar", "columns.parquet"): lambda n: table_of(
        source=1, target=1, **{f"c{k}": 1 for k in range(n // 100)}
    ),
    ("columnar", "groups.arrow"): lambda n: (table_of(source=n // 10, target=n // 10), 1),
    ("npz", "edges.npz"): lambda n: {"src": np.arange(n), "dst": np.arange(n)},
    ("npz", "members.npz"): lambda n: {
        "src": [1],
        "dst": [2],
        **{f"a{k}": [k] for k in range(n // 50)},
    },
    ("matlab", "matrix.mat"): lambda n: {"network": sp.eye_array(n, format="csc")},
    ("matlab", "variables.mat"): lambda n: {
        "network": sp.eye_array(3, format="csc"),
        **{f"a{k}": k for k in range(n // 100)},
    },
}
LABELS = {
    ("text", "labels.csv"): lambda n: "id,label\n" + "".join(f"{k},red\n" for k in range(n)),
    ("text", "cell.csv"): lambda n: "id,label\n1," + ";".join(f"a{k}" for k in range(n)) + "\n",
    ("columnar", "labels.parquet"): lambda n: table_of(id=n, label=n),
    ("adjacency", "labels.adjlist"): lambda n: "a " + " ".join(map(str, range(n))) + "\n",
    ("npz", "labels.npz"): lambda n: {"label": np.arange(n) % 5},
    ("matlab", "labels.mat"): lambda n: {"group": sp.csc_array(np.eye(3)[np.arange(n) % 3])},
}
TABLES = {
    "rows.csv": lambda n: "id,age\n" + "".join(f"{k},{k}\n" for k in range(n)),
    "columns.csv": lambda n: (
        ",".join(["id", *(f"c{k}" for k in range(n // 20))]) + "\n" + "1," * (n // 20) + "1\n"
    ),
    "rows.parquet": lambda n: table_of(id=n, age=n),
}


def table_of(**columns):
    rows = max(columns.values())
    return pa.table({name: np.arange(rows) for name in columns})


def write(content, path):
    """Write what the functions above return."""
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, dict) and path.suffix == ".npz":
        np.savez(path, **content)
    elif isinstance(content, dict):
        scipy.io.savemat(path, content)
    elif isinstance(content, tuple):
        with pa.ipc.new_file(path, content[0].schema) as writer:
            writer.write_table(content[0], max_chunksize=content[1])
    else:
        pq.write_table(content, path)


def vectors(suffix):
    def content(n):
        rows = n // 4
        return hopvec.Embedding(np.ones((rows, 2), np.float32), pa.array(range(rows)))

    return f"vectors{suffix}", content


CASES = [
    *((name, content, hopvec.read_graph) for (_, name), content in GRAPHS.items()),
    *((name, content, hopvec.read_labels) for (_, name), content in LABELS.items()),
    *((name, content, read_features) for name, content in TABLES.items()),
    *((name, content, read_nodes) for name, content in TABLES.items()),
    *((*vectors(suffix), hopvec.load) for suffix in EMBEDDING_FORMATS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "read"), CASES, ids=[f"{read.__name__} {name}" for name, _, read in CASES]
)
def test_every_reader_takes_linear_time(name, content, read, tmp_path):
    path = tmp_path / name

    def seconds(size):
        made = content(size)
        if isinstance(made, hopvec.Embedding):
            made.save(path)
        else:
            write(made, path)
        gc.disable()  # a collection takes longer, the more objects other tests keep
        begin = process_time()
        with suppress(hopvec.HopvecError):
            read(path)
        taken = process_time() - begin
        gc.enable()
        return taken

    seconds(100)  # imports what it needs
    small = max(seconds(SMALL), 0.02)
    # Linear time is about 6 times as long, quadratic time 36 times.
    assert any(seconds(SMALL * FACTOR) < 2.5 * FACTOR * small for _ in range(3))


def test_every_format_is_tested():
    assert {format_ for format_, _ in GRAPHS} == set(GRAPH_FORMATS)
    assert {format_ for format_, _ in LABELS} == set(LABEL_FORMATS)
