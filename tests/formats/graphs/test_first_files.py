"""Files that new users typically have: clear cases are read, ambiguous ones give a warning."""

import logging

import pandas as pd
import pytest

from hopvec import FormatError, Graph, GraphError, ParameterError, read_graph

ORDERS = pd.DataFrame(
    {"customer": ["ann", "bob", "bob"], "product": ["tea", "tea", "milk"], "amount": [3, 1, 2]}
)


@pytest.fixture
def notes(caplog):
    caplog.set_level(logging.WARNING, "hopvec")
    return lambda: " ".join(record.getMessage() for record in caplog.records)


def text(directory, content, name="edges.csv"):
    path = directory / name
    path.write_text(content, encoding="utf-8")
    return path


def test_an_index_written_by_pandas_is_not_an_end_of_edges(tmp_path):
    ORDERS.to_csv(tmp_path / "orders.csv")
    ORDERS.reset_index(names="Unnamed: 0").to_parquet(tmp_path / "orders.parquet")
    for name in ("orders.csv", "orders.parquet"):
        graph = read_graph(tmp_path / name)
        assert graph.origin["columns"] == {"source": "customer", "target": "product"}
        assert graph.ids.to_pylist() == ["ann", "bob", "milk", "tea"]
    graph = Graph.from_arrow(ORDERS.reset_index(names="Unnamed: 0"))
    assert graph.origin == {"columns": {"source": "customer", "target": "product"}}


def test_an_index_is_used_if_it_is_requested(tmp_path):
    ORDERS.reset_index(names="Unnamed: 0").to_csv(tmp_path / "orders.csv", index=False)
    graph = read_graph(tmp_path / "orders.csv", source="Unnamed: 0", target="customer")
    assert graph.origin["columns"] == {"source": "Unnamed: 0", "target": "customer"}


def test_possible_weights_give_a_warning(tmp_path, notes):
    ORDERS.to_csv(tmp_path / "orders.csv", index=False)
    assert read_graph(tmp_path / "orders.csv").weights is None
    assert "weight='amount'" in notes()
    ORDERS.to_parquet(tmp_path / "orders.parquet")
    read_graph(tmp_path / "orders.parquet")
    assert notes().count("weight='amount'") == 2
    read_graph(tmp_path / "orders.csv", unweighted=True)
    read_graph(tmp_path / "orders.csv", weight="amount")
    assert notes().count("weight='amount'") == 2


def test_a_possible_header_gives_a_warning(tmp_path, notes):
    lines = "ann,tea\nbob,tea\nbob,milk\nann,milk\ncem,tea\n"
    assert read_graph(text(tmp_path, lines)).nodes == 5
    assert notes() == ""
    assert read_graph(text(tmp_path, "guest,drink\n" + lines)).nodes == 7
    assert "line 1 (guest, drink) is read as an edge" in notes()
    assert read_graph(tmp_path / "edges.csv", header=True).nodes == 5


@pytest.mark.parametrize(
    "content",
    [
        "follower,followed\nann,bob\nbob,cem\n",
        "user,item\nann,tea\n",
        "gene_a,gene_b\nBRCA1,TP53\nMYC,EGFR\n",
    ],
)
def test_common_names_that_occur_nowhere_else_are_a_header(tmp_path, notes, content):
    names, *edges = content.splitlines()
    graph = read_graph(text(tmp_path, content))
    assert graph.edges == len(edges)
    assert set(names.split(",")).isdisjoint(graph.ids.to_pylist())
    assert notes() == ""
    assert (
        read_graph(text(tmp_path, content + names.replace(",", "\n").split()[0] + ",x\n")).edges
        == len(edges) + 2
    )


@pytest.mark.parametrize("content", ["1,2\n3,4\n4,5\n", "ann,bob\ncem,dan\n", "ann,bob\n"])
def test_unambiguous_edges_give_no_warning(tmp_path, notes, content):
    read_graph(text(tmp_path, content))
    assert notes() == ""


def test_ends_chosen_by_position_give_a_warning(tmp_path, notes):
    visits = ORDERS.rename(columns={"customer": "guest", "product": "drink"})
    visits.to_csv(tmp_path / "orders.csv", index=False)
    read_graph(tmp_path / "orders.csv", unweighted=True)
    warning = "'guest' as the source and 'drink' as the target because of their position"
    assert warning in notes()
    assert "Choose others with source= and target=" in notes()
    visits.to_parquet(tmp_path / "orders.parquet")
    read_graph(tmp_path / "orders.parquet", unweighted=True)
    assert notes().count(warning) == 2
    read_graph(tmp_path / "orders.csv", source="guest", target="drink", unweighted=True)
    visits.drop(columns="amount").to_csv(tmp_path / "two.csv")
    read_graph(tmp_path / "two.csv", header=True)
    assert notes().count("because of their position") == 2


@pytest.mark.parametrize("content", ['{"source": "a"}\n', '[{"source": 1}]\n', "[\n  {\n", "{\n"])
def test_json_is_refused(tmp_path, content):
    with pytest.raises(FormatError, match="looks like JSON"):
        read_graph(text(tmp_path, content, "edges.json"))


def test_an_id_in_brackets_is_not_json(tmp_path):
    graph = read_graph(text(tmp_path, "[deleted],bob\nann,[deleted]\n"))
    assert graph.ids.to_pylist() == ["[deleted]", "ann", "bob"]


def test_vectors_are_refused_as_edges(tmp_path):
    with pytest.raises(FormatError, match="these are vectors"):
        read_graph(text(tmp_path, "id,e0,e1\na,0.1,0.2\n"))
    pd.DataFrame({"id": ["a"], "embedding": [[0.1, 0.2]]}).to_parquet(tmp_path / "v.parquet")
    with pytest.raises(FormatError, match="this is an embedding"):
        read_graph(tmp_path / "v.parquet")


def test_a_square_of_numbers_is_refused_unless_columns_are_named(tmp_path):
    path = text(tmp_path, "0,1,0,1\n1,0,1,1\n0,1,0,1\n1,1,1,0\n")
    with pytest.raises(FormatError, match="look like an adjacency matrix"):
        read_graph(path)
    assert read_graph(path, source=1, target=2).nodes == 2


def test_ends_of_different_types_are_refused_with_their_columns(tmp_path):
    pd.DataFrame({"number": [0, 1], "customer": ["a", "b"]}).to_parquet(tmp_path / "e.parquet")
    with pytest.raises(GraphError, match="column 'number' holds integers, the target column 'cust"):
        read_graph(tmp_path / "e.parquet")


def test_formats_have_their_common_names_as_aliases(tmp_path):
    assert read_graph(text(tmp_path, "a,b\n", "edges"), format="CSV").nodes == 2


def test_text_in_another_encoding_is_refused_with_a_remedy(tmp_path):
    (tmp_path / "latin.csv").write_bytes("a,bé\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"line 1: this is not UTF-8 text\..*iconv"):
        read_graph(tmp_path / "latin.csv")
    (tmp_path / "wide.csv").write_bytes("a,b\n".encode("utf-16"))
    with pytest.raises(FormatError, match="If it is UTF-16"):
        read_graph(tmp_path / "wide.csv")


def test_embedding_a_path_gives_an_error_with_a_hint():
    from hopvec import FastRP

    with pytest.raises(GraphError, match=r"Read the file first: hopvec.read_graph\('edges.csv'\)"):
        FastRP().embed("edges.csv")


def test_ids_with_surrounding_whitespace_give_a_warning(tmp_path, notes):
    assert read_graph(text(tmp_path, "a,b\nc,d\n")).nodes == 4
    assert notes() == ""
    assert read_graph(text(tmp_path, "a,b\n a,c\na ,d\n")).nodes == 6
    assert "begin or end with whitespace, such as ' a'" in notes()


def test_an_error_in_a_directory_names_the_file(tmp_path):
    pd.DataFrame({"id": ["a"], "embedding": [[0.1]]}).to_parquet(tmp_path / "v.parquet")
    message = r"v\.parquet, the first Parquet file of this directory: this is an embedding"
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_weight_column_and_unweighted_contradict_each_other(tmp_path, suffix):
    path = tmp_path / f"orders.{suffix}"
    ORDERS.to_csv(path, index=False) if suffix == "csv" else ORDERS.to_parquet(path)
    with pytest.raises(
        ParameterError, match=r"weight='amount' and unweighted=True .*leave one of them out"
    ):
        read_graph(path, weight="amount", unweighted=True)
    with pytest.raises(ParameterError, match="leave one of them out"):
        Graph.from_arrow(ORDERS, weight="amount", unweighted=True)
