"""`hopvec explore`: its inputs, its server, and how it stops."""

import os
import re
import signal
import socket
import sys
import urllib.error
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec.view.explorer import server

unix = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for another process")


@pytest.fixture
def explored(monkeypatch):
    """Captures the exploration instead of serving it."""
    served = []
    monkeypatch.setattr(
        "hopvec.cli.explore.serve", lambda *given, **how: served.append((*given, how))
    )
    return served


@unix
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_it_prints_its_url_serves_the_page_and_stops_when_asked(process, vectors, sent):
    run = process("explore", vectors, "--layout", "pca", "--no-open", "--port", "0")
    address = run.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
    with urllib.request.urlopen(address, timeout=10) as page:
        assert b"hopvec explorer" in page.read()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0], timeout=10)
    run.send_signal(sent)
    stdout, stderr = run.communicate(timeout=10)
    assert (run.returncode, stdout) == (0 if sent == signal.SIGINT else 143, "")
    assert stderr.startswith("Exploring 6 nodes. Press Ctrl-C to stop.\n")
    assert "Traceback" not in stderr


def test_nodes_can_be_colored_by_labels_degree_and_extra_columns(
    run, vectors, edges, tmp_path, explored
):
    table = pq.read_table(tmp_path / vectors)
    table = table.append_column("age", pa.array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5]))
    pq.write_table(table, tmp_path / vectors)
    (tmp_path / "labels.csv").write_text("id,label\nann,a\nbob,b\n")
    arguments = [vectors, "--labels", "labels.csv", "--graph", edges, "--layout", "pca"]
    result = run("explore", *arguments)
    assert result.exit_code == 0, result.output
    ((exploration, how),) = explored
    assert [column.name for column in exploration._columns] == ["label", "degree", "age"]
    assert how["host"] == "127.0.0.1"
    assert how["open_browser"] is True


def test_positions_of_the_file_are_used_unless_a_layout_is_given(run, vectors, tmp_path, explored):
    table = pq.read_table(tmp_path / vectors)
    for name in ("x", "y"):
        table = table.append_column(name, pa.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    pq.write_table(table, tmp_path / vectors)
    assert run("explore", vectors).exit_code == 0
    assert run("explore", vectors, "--layout", "pca").exit_code == 0
    (stored, _), (laid_out, _) = explored
    assert stored._sides[0].positions[:, 0].tolist() == pytest.approx([-1, -0.6, -0.2, 0.2, 0.6, 1])
    assert laid_out._sides[0].positions.tolist() != stored._sides[0].positions.tolist()
    assert stored._columns == ()


def test_links_of_a_bipartite_graph_lead_to_the_other_side(run, tmp_path, explored):
    (tmp_path / "likes.csv").write_text("who,what\n1,1\n1,2\n2,2\n2,3\n3,3\n")
    sides = ("--bipartite", "--prefixes", "u,i")
    assert run("embed", "likes.csv", *sides, "--dim", "4", "-o", "both.npy").exit_code == 0
    result = run("explore", "both.npy", "--graph", "likes.csv", *sides, "--layout", "pca")
    assert result.exit_code == 0, result.output
    exploration = explored[0][0]
    links = exploration._neighborhood(exploration._search.node("u1"), 5)["links"]
    assert {card["name"] for card in links} <= {"i3"}
    assert exploration._about()["bipartite"]


def test_labels_of_unknown_nodes_are_reported(run, vectors, tmp_path, explored):
    (tmp_path / "labels.csv").write_text("id,label\nann,a\nzoe,b\n")
    result = run("explore", vectors, "--labels", "labels.csv", "--layout", "pca")
    assert "Ignoring 1 of 2 labeled nodes, which have no vector: 'zoe'." in result.stderr


def test_files_with_the_same_name_are_shown_with_their_directories(
    run, vectors, tmp_path, explored
):
    (tmp_path / "other").mkdir()
    hopvec.load(tmp_path / vectors).save(tmp_path / "other" / "vectors.npy")
    run("explore", vectors, "other/vectors.npy", "--layout", "pca")
    assert [side.name for side in explored[0][0]._sides] == [vectors, "other/vectors.npy"]


def test_the_columns_of_the_graph_can_be_given_and_unknown_nodes_are_reported(
    run, vectors, tmp_path, explored
):
    (tmp_path / "links.csv").write_text("no,who,whom\n1,ann,bob\n2,bob,zoe\n")
    columns = ("--source", "who", "--target", "whom")
    result = run("explore", vectors, "--graph", "links.csv", *columns, "--layout", "pca")
    assert result.exit_code == 0, result.stderr
    assert "1 of 3 nodes of the graph have no vector and are not shown" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.parquet"], "none.parquet: there is no such file."),
        (["vectors.parquet", "vectors.parquet"], "Name each file of vectors only once."),
        (["vectors.parquet", "--label-column", "x"], "--label-column needs --labels."),
        (["vectors.parquet", "--directed"], "--directed needs --graph."),
        (["vectors.parquet", "less.parquet"], "less has no vector for 2 of the 6 nodes of vectors"),
        (
            ["vectors.parquet", "--labels", "unknown.csv"],
            "None of the 1 labeled nodes has a vector",
        ),
        (["vectors.parquet", "--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
        (["vectors.parquet", "--host", "no host"], "cannot listen on no host"),
    ],
)
def test_user_errors_are_one_sentence(run, vectors, tmp_path, arguments, sentence):
    whole = hopvec.load(tmp_path / vectors)
    hopvec.Embedding(whole.vectors[:4], whole.ids[:4]).save(tmp_path / "less.parquet")
    (tmp_path / "unknown.csv").write_text("id,label\nzoe,b\n")
    result = run("explore", *arguments, "--layout", "pca", "--no-open")
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_a_port_in_use_is_an_error():
    with server.listening(server.LOCAL, 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(hopvec.ParameterError, match=f"port {port} is in use.*port=9000"):
            server.listening(server.LOCAL, port)


def test_without_a_port_the_next_free_one_is_used(monkeypatch):
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
    ("options", "token"),
    [([], True), (["--token", "my_Token-1"], "my_Token-1"), (["--no-token"], False)],
)
def test_the_token_can_be_chosen_or_disabled(run, vectors, explored, options, token):
    assert run("explore", vectors, "--layout", "pca", *options).exit_code == 0
    assert explored[0][1]["token"] == token


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--token", "short"], '--token must be 8 to 200 letters, digits, "-" or "_"'),
        (["--token", ""], '--token must be 8 to 200 letters, digits, "-" or "_"'),
        (["--token", "a b c d e"], '--token must be 8 to 200 letters, digits, "-" or "_"'),
        (["--token", "my_Token-1", "--no-token"], "Give --token or --no-token, not both."),
        (["--no-token", "--host", "0.0.0.0"], "other machines can open 0.0.0.0, so it needs a"),
    ],
)
def test_a_bad_token_is_refused_before_files_are_read(run, options, sentence):
    result = run("explore", "none.parquet", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_the_default_token_is_random_and_long():
    first, second = (server.required_token(True, server.LOCAL) for _ in range(2))
    assert first != second
    assert min(len(first), len(second)) >= 32
    assert server.required_token(False, server.LOCAL) is None


@pytest.mark.parametrize(
    ("host", "name"), [("192.0.2.7", "192.0.2.7"), ("::1", "[::1]"), ("0.0.0.0", "desk")]
)
def test_the_url_of_another_host_has_a_token(host, name, monkeypatch):
    monkeypatch.setattr(server.socket, "gethostname", lambda: "desk")
    assert server._url(host, 80, "secret") == f"http://{name}:80/?token=secret"
    assert "?" not in server._url(server.LOCAL, 80, None)
