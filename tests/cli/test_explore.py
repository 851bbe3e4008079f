"""`hopvec explore`: what it reads, where it listens, how it ends."""

import os
import signal
import socket
import sys
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec.view.explorer import server

unix = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for another process")


@pytest.fixture
def explored(monkeypatch):
    """What would be served, without serving it."""
    served = []
    monkeypatch.setattr(
        "hopvec.cli.explore.serve", lambda *given, **how: served.append((*given, how))
    )
    return served


@unix
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_it_tells_its_address_answers_and_ends_when_asked(process, vectors, sent):
    run = process("explore", vectors, "--layout", "pca", "--no-open", "--port", "0")
    address = run.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(address, timeout=10) as page:
        assert b"hopvec explorer" in page.read()
    run.send_signal(sent)
    stdout, stderr = run.communicate(timeout=10)
    assert (run.returncode, stdout) == (0 if sent == signal.SIGINT else 143, "")
    assert stderr.startswith("Exploring 6 nodes. Press Ctrl-C to stop.\n")
    assert "Traceback" not in stderr


def test_labels_graph_and_further_columns_are_there_to_color_by(
    run, vectors, edges, tmp_path, explored
):
    table = pq.read_table(tmp_path / vectors)
    table = table.append_column("age", pa.array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5]))
    pq.write_table(table, tmp_path / vectors)
    (tmp_path / "labels.csv").write_text("id,label\nann,a\nbob,b\n")
    words = [vectors, "--labels", "labels.csv", "--graph", edges, "--layout", "pca"]
    result = run("explore", *words)
    assert result.exit_code == 0, result.output
    ((exploration, how),) = explored
    assert [column.name for column in exploration.columns] == ["label", "degree", "age"]
    assert how["host"] == "127.0.0.1"
    assert how["open_browser"] is True


def test_positions_of_the_file_are_used_unless_a_layout_is_asked_for(
    run, vectors, tmp_path, explored
):
    table = pq.read_table(tmp_path / vectors)
    for name in ("x", "y"):
        table = table.append_column(name, pa.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    pq.write_table(table, tmp_path / vectors)
    assert run("explore", vectors).exit_code == 0
    assert run("explore", vectors, "--layout", "pca").exit_code == 0
    (kept, _), (laid_out, _) = explored
    assert kept.sides[0].positions[:, 0].tolist() == pytest.approx([-1, -0.6, -0.2, 0.2, 0.6, 1])
    assert laid_out.sides[0].positions.tolist() != kept.sides[0].positions.tolist()
    assert kept.columns == ()


def test_labels_of_some_other_nodes_are_told(run, vectors, tmp_path, explored):
    (tmp_path / "labels.csv").write_text("id,label\nann,a\nzoe,b\n")
    result = run("explore", vectors, "--labels", "labels.csv", "--layout", "pca")
    assert "Labeled nodes without a vector, 1 of 2, are left out: 'zoe'." in result.stderr


def test_files_of_the_same_name_are_told_apart_by_their_folders(run, vectors, tmp_path, explored):
    (tmp_path / "other").mkdir()
    hopvec.load(tmp_path / vectors).save(tmp_path / "other" / "vectors.npy")
    run("explore", vectors, "other/vectors.npy", "--layout", "pca")
    assert [side.name for side in explored[0][0].sides] == [vectors, "other/vectors.npy"]


def test_the_columns_of_the_graph_can_be_named_and_strangers_in_it_are_told(
    run, vectors, tmp_path, explored
):
    (tmp_path / "links.csv").write_text("no,who,whom\n1,ann,bob\n2,bob,zoe\n")
    columns = ("--source", "who", "--target", "whom")
    result = run("explore", vectors, "--graph", "links.csv", *columns, "--layout", "pca")
    assert result.exit_code == 0, result.stderr
    assert "Nodes of the graph without a vector, 1 of 3, are not shown" in result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.parquet"], "none.parquet: there is no such file."),
        (["vectors.parquet", "vectors.parquet"], "Name each file of vectors only once."),
        (["vectors.parquet", "--label-column", "x"], "--label-column needs --labels."),
        (["vectors.parquet", "--directed"], "--directed needs --graph."),
        (["vectors.parquet", "less.parquet"], "less has no vector for 2 of the 6 nodes of vectors"),
        (
            ["vectors.parquet", "--labels", "strangers.csv"],
            "None of the 1 labeled nodes has a vector",
        ),
        (["vectors.parquet", "--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        (["vectors.parquet", "--host", "no host"], "cannot listen on no host"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(run, vectors, tmp_path, words, sentence):
    whole = hopvec.load(tmp_path / vectors)
    hopvec.Embedding(whole.vectors[:4], whole.ids[:4]).save(tmp_path / "less.parquet")
    (tmp_path / "strangers.csv").write_text("id,label\nzoe,b\n")
    result = run("explore", *words, "--layout", "pca", "--no-open")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_a_port_that_is_taken_is_named_and_the_next_free_one_found():
    with server.listening(server.LOCAL, 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(hopvec.ParameterError, match=f"port {port} is in use.*port=9000"):
            server.listening(server.LOCAL, port)


def test_without_a_port_the_next_free_one_is_taken(monkeypatch):
    with socket.socket() as probe:
        probe.bind((server.LOCAL, 0))
        probe.listen()
        monkeypatch.setattr(server, "PORT", probe.getsockname()[1])
        with server.listening(server.LOCAL, None) as found:
            assert found.getsockname()[1] > probe.getsockname()[1]


def test_the_missing_extra_is_named(run, vectors, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run("explore", vectors)
    assert result.exit_code == 2
    assert result.stderr.strip() == "explore needs the web extra: pip install 'hopvec[web]'."


@pytest.mark.parametrize(
    ("host", "name"), [("192.0.2.7", "192.0.2.7"), ("::1", "[::1]"), ("0.0.0.0", "desk")]
)
def test_another_host_has_a_token_in_its_address(host, name, monkeypatch):
    monkeypatch.setattr(server.socket, "gethostname", lambda: "desk")
    assert server._url(host, 80, "secret") == f"http://{name}:80/?token=secret"
    assert "?" not in server._url(server.LOCAL, 80, None)
