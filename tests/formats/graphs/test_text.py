"""Edge lists as text: how they are read, and the errors if they cannot be read."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_formats import read
from hopvec import FormatError, GraphError, read_graph
from hopvec.formats.graphs import lines, text


@pytest.fixture
def graph_of(tmp_path):
    def graph_of(content, name="edges", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_graph(path, **options)

    return graph_of


def ids(graph):
    return graph.ids.to_pylist()


@pytest.mark.parametrize(
    ("content", "separator", "expected"),
    [
        ("a,b\nb,c\n", "comma", ["a", "b", "c"]),
        ("a\tb c\nd\te\n", "tab", ["a", "b c", "d", "e"]),
        ("a;b\nc;d\n", "semicolon", ["a", "b", "c", "d"]),
        ("a;1,5\nb;2,5\n", "semicolon", ["1,5", "2,5", "a", "b"]),
        ("a|b\nc|d\n", "bar", ["a", "b", "c", "d"]),
        ("a b\nc d\n", "space", ["a", "b", "c", "d"]),
        ("  a    b\nccc  d \n", "space", ["a", "b", "ccc", "d"]),
        ("a \t b\nc\td\n e f\n", "whitespace", ["a", "b", "c", "d", "e", "f"]),
        ("New York,Los Angeles\nRio,New York\n", "comma", ["Los Angeles", "New York", "Rio"]),
        ('"a,b",c\n"say ""so""",d\n', "comma", ["a,b", "c", "d", 'say "so"']),
        ('"New  York" b\nc  d\n', "space", ["New  York", "b", "c", "d"]),
        ('"New  York" b\n c\td\n', "whitespace", ["New  York", "b", "c", "d"]),
        ('a, b\n"c", "d, e"\n', "comma", ["a", "b", "c", "d, e"]),
        ("a , b\nc , d\n", "comma", ["a", "b", "c", "d"]),
        (" a,b \nb,c\n", "comma", [" a", "b", "b ", "c"]),
        ('5"disk,c\nb,d"\n', "comma", ['5"disk', "b", "c", 'd"']),
        ("é,中\n\U0001f600,ß\n", "comma", ["ß", "é", "中", "\U0001f600"]),
    ],
)
def test_the_separator_is_detected(graph_of, content, separator, expected):
    graph = graph_of(content)
    assert ids(graph) == expected
    assert graph.origin["separator"] == separator


@pytest.mark.parametrize("separator", ["tab", "\t", "\\t"])
def test_a_separator_can_be_given(graph_of, separator):
    assert ids(graph_of("a,x\tb,y\n", separator=separator)) == ["a,x", "b,y"]


@pytest.mark.parametrize("separator", ["::", '"', "→", "\n", ""])
def test_a_separator_that_is_not_one_character_is_refused(graph_of, separator):
    with pytest.raises(FormatError, match="separator= must be one ASCII character"):
        graph_of("a::b\n", separator=separator)


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("a b\nb c\n", False),
        ("u,v\na,b\n", True),
        ("u,v\nv,w\n", False),  # an edge, since v is a node
        ("Source\tTarget\nx\ty\n", True),
        ("x y\n1 2\n2 3\n", True),  # strings above numbers
        ("x 2\n1 2\n2 3\n", False),  # a number is not a name
        ("x,y,3\nz,w,4\n", False),
        ("1 2\n2 3\n", False),
        ("name,friend\nann,bob\nbob,eve\n", False),  # ambiguous, so nothing is dropped
        ("\ufeffsource,target\na,b\n", True),
        ("\n\n# made today\nfrom,to\n\n# now\na,b\n", True),
    ],
)
def test_a_header_is_detected_only_if_nothing_is_lost(graph_of, content, header):
    assert graph_of(content).origin["header"] is header


def test_header_overrides_the_detection(graph_of):
    assert ids(graph_of("name,friend\nann,bob\n", header=True)) == ["ann", "bob"]
    assert ids(graph_of("u,v\na,b\n", header=False)) == ["a", "b", "u", "v"]


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("a,b,c\n1,2,3\n", {"source": "c", "target": "a"}, {"source": "c", "target": "a"}),
        ("x,1,2\ny,2,3\n", {"source": "2", "target": 3}, {"source": "2", "target": "3"}),
        ("1,2\n2,3\n", {"source": "1", "target": "2"}, {"source": "1", "target": "2"}),
        ("dst,src\n1,2\n", {}, {"source": "src", "target": "dst"}),
        ("when,src_name,dst_name\n1,a,b\n", {}, {"source": "src_name", "target": "dst_name"}),
        ("name_dst,name_src\na,b\n", {}, {"source": "name_src", "target": "name_dst"}),
        ("n,fromUser,toUser\n1,a,b\n", {}, {"source": "fromUser", "target": "toUser"}),
        ("a,b,from_date,to_date\nx,y,3,4\n", {}, {"source": "a", "target": "b"}),
        (
            "src_type,dst_type,src_id,dst_id\np,q,a,b\n",
            {},
            {"source": "src_id", "target": "dst_id"},
        ),
        (
            "src_ip,src_port,dst_ip,dst_port\na,1,b,2\n",
            {"source": "src_port"},
            {"source": "src_port", "target": "dst_port"},
        ),
        ("x,y,2\ny,z,3\n", {}, {"source": "1", "target": "2", "weight": "3"}),
        ("x,y,2\ny,z,3\n", {"unweighted": True}, {"source": "1", "target": "2"}),
        ("x,y,likes\ny,z,knows\n", {}, {"source": "1", "target": "2"}),
        ("u,v,w,when\na,b,2,9\n", {}, {"source": "u", "target": "v", "weight": "w"}),
        ("u,v,n\na,b,2\n", {"weight": "n"}, {"source": "u", "target": "v", "weight": "n"}),
    ],
)
def test_columns_are_chosen_by_name_position_or_request(graph_of, content, options, expected):
    graph = graph_of(content, **options)
    assert graph.origin["columns"] == expected
    lost = not graph.origin["header"] and graph.edges < content.count("\n")
    assert not lost


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("u,v\n1,2\n", {"source": "x"}, "no column 'x' for the source; the columns are u, v"),
        ("1,2\n", {"target": 3}, "no column 3 for the target; it has 2 columns, no header"),
        ("a,b\n1,2\n", {"source": 0}, "no column 0 for the source"),
        ("abc\ndef\n", {}, "line 1: 'abc' is one column, but an edge needs two"),
        ("", {}, "the file is empty"),
        ("\n \n", {}, "there are no edges in it"),
        ("source,target\n", {}, "there are no edges in it"),
        ("# a b\n# c d\n", {}, "All lines look like comments; if they are not, use comment=''"),
        ("a,b\nc\n", {}, "line 2: 'c' has 1 columns, but the lines before it have 2"),
        ("# x\na,b\n\nc,d\na\n", {}, "line 5: 'a' has 1 columns"),
        ("a  b\nb  c\n\na  b  c\n", {}, r"line 4: 'a b c' has 3 columns"),
        ("a,b\nc,d,e\n", {}, "If each line holds a node and its neighbors"),
        ('a,b\nc,d\n"e,f\ng,h\n', {}, "line 3: a quote is opened but not closed"),
        ('a,b\n"c,d\ne,f\n"g",h\n', {}, "line 2: a quote is opened but not closed"),
        ('a,b\nc,d\ne,"f\n', {}, "line 3: a quote is opened but not closed"),
        (b"a,b\nc,\xff\n", {}, "line 2: this is not UTF-8 text"),
        (b"a,b\n" * 40_000 + b"c,\xff\n", {}, "line 40,001: this is not UTF-8 text"),
        (b"a,b\n" * 40_000 + b"c,\xff,d\n", {}, "line 40,001: 'c,.,d' has 3 columns"),
        ("a,b,1\nc,d,x\n", {}, "line 2: the weight 'x' is not a number"),
        ("a,b,1\nc,d,\n", {}, "line 2: the weight '' is not a number"),
        ("u;v;w\na;b;1,5\nb;c;1.5,0\n", {}, "line 2: the weight '1,5' is not a number"),
        ("a;b;1,5\n" * 2000 + "b;c;1.5\n", {}, "line 2,001: the weight '1.5' is not a number"),
        ("a b {}\n" * 2000 + "b c {'weight': 2}\n", {}, "line 2,001: .* has 4 columns"),
        ('a,b\nc,"d\ne"\n', {}, "line 2: a quote .* an id cannot span lines"),
        ("a,b,1\nc,d,1_000\n", {}, "line 2: the weight '1_000' is not a number"),
        ("a,b\n#c,d\n", {}, "line 2: is '#c,d' a comment or an edge?"),
    ],
)
def test_an_unreadable_file_is_refused_with_its_line(graph_of, content, options, message):
    with pytest.raises(FormatError, match=message) as caught:
        graph_of(content, "edges.csv" if content else "edges", **options)
    assert "edges" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n,c\n", "line 2: the source is empty"),
        ("a,b\nc,\n,d\n", "line 2: the target is empty"),
        ('a,b\n\nc,""\n', "line 3: the target is empty"),
        ("a,b,1\nc,d,nan\n", r"line 2 \('c' - 'd'\): the weight nan is not allowed"),
        ("a,b,1\nc,d,inf\n", "line 2 .* the weight inf"),
        ("a,b,1\nc,d,-2\n", "line 2 .* the weight -2.0"),
        ("a,b,1\nc,d,1e400\n", "line 2 .* the weight inf"),
    ],
)
def test_an_invalid_edge_is_refused_with_its_line(graph_of, content, message):
    with pytest.raises(GraphError, match=message):
        graph_of(content)


@pytest.mark.parametrize("wrong", ["nan", "abc"])
def test_a_wrong_weight_on_line_48213_is_named_so(graph_of, wrong):
    rows = ["# by hand", "", "source,target,weight"] + [
        "a-long-name,another-long-name,1.5"
    ] * 60_000
    rows[48_212] = f"x,y,{wrong}"
    with pytest.raises((FormatError, GraphError), match=rf"line 48,213\b.*'?{wrong}'?"):
        graph_of("\r\n".join(rows))


def test_a_broken_row_far_beyond_the_first_block_is_named(graph_of):
    rows = [f"{number},{number * 7919}" for number in range(600_000)]
    rows[::7] = ["# seven"] * len(rows[::7])
    rows[599_990] = "1"
    with pytest.raises(FormatError, match="line 599,991: '1' has 1 columns"):
        graph_of("\n".join(rows))


def test_the_first_of_several_errors_in_a_file_is_raised(graph_of):
    with pytest.raises(FormatError, match="line 3: 'x'"):
        graph_of(b"a,b\n" * 2 + b"x\n" + b"a,b\n" * 400_000 + b"\0")


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("# c\n% d\na,b\n# e,f\n", {}, ["a", "b"]),
        ("# c\n" * 20 + "a,b\n", {}, ["a", "b"]),  # more comments than edges
        ("a,b\n#c,d\n", {"comment": ""}, ["#c", "a", "b", "d"]),
        ("a,b\n#c,d\n", {"comment": "#"}, ["a", "b"]),
        ("// x\na,b\n#c,d\n", {"comment": "//"}, ["#c", "a", "b", "d"]),
        ("".join(f"#a,#{n}\n" for n in range(6)), {}, ["#0", "#1", "#2", "#3", "#4", "#5", "#a"]),
    ],
)
def test_comments_are_distinguished_from_hashtags(graph_of, content, options, expected):
    assert ids(graph_of(content, **options)) == expected


def test_comments_are_counted_in_the_origin(graph_of):
    assert graph_of("# x\na,b\n% y\n").origin["comments"] == 2


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("10,9\n-1,0\n", [-1, 0, 9, 10]),
        ("007,1\n2,3\n", ["007", "1", "2", "3"]),
        (f"{2**63 - 1},{-(2**63)}\n", [-(2**63), 2**63 - 1]),
        (f"{2**63},1\n", ["1", str(2**63)]),
        ("1,2\n" * 40_000 + "x,2\n", ["1", "2", "x"]),  # strings only after the first 64 KB
    ],
)
def test_ids_are_integers_if_all_of_them_are(graph_of, content, expected):
    assert ids(graph_of(content)) == expected


def test_a_table_whose_cells_contain_spaces_is_not_an_adjacency_list(graph_of):
    content = "Ann B C,Dan\nEve Ann,Dan B\nDan,Eve F G H\n"
    assert graph_of(content).origin["format"] == "text"


words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8
).filter(lambda word: word.strip() == word and word[0] not in "#%")
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=20)


@given(pairs, st.sampled_from([",", "\t", ";"]), st.integers(5, 40) | st.just(1 << 20))
def test_anything_the_csv_module_writes_is_read_back(tmp_path_factory, edges, separator, block):
    path = tmp_path_factory.mktemp("text") / "edges"
    written = io.StringIO()
    csv.writer(written, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(edges)
    path.write_text(written.getvalue(), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block)
        assert read(text, path, separator=separator, header=False) == edges


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x\ny\n", ["a", "b", "x", "y"]),
        ("id\nx\n", ["a", "b", "x"]),
        ("# all\nnode,age\nx,3\n", ["a", "b", "x"]),
        ("age\tname\n3\tNew York\n", ["New York", "a", "b"]),
        ("New York\n#tag\n\na\n", ["#tag", "New York", "a", "b"]),
        ('"x, y"\n', ["a", "b", "x, y"]),
    ],
)
def test_nodes_without_edges_are_added_from_a_file(graph_of, tmp_path, content, expected):
    (tmp_path / "nodes").write_text(content)
    assert ids(graph_of("a,b\n", nodes=tmp_path / "nodes")) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty"),
        ("\n\n", "there are no ids in it"),
        ("id\n", "there are no ids in it"),
        ('x\n\n""\n', "line 3: the id is empty"),
        ('x\n"y\n', "line 2: a quote is opened but not closed"),
        (b"\0\1", "ids are read from text, Parquet or Arrow"),
    ],
)
def test_a_broken_file_of_nodes_is_refused_with_its_line(graph_of, tmp_path, content, message):
    (tmp_path / "nodes").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=f"^{re.escape(str(tmp_path / 'nodes'))}.*{message}"):
        graph_of("a,b\n", nodes=tmp_path / "nodes")


def test_an_empty_id_in_a_list_of_nodes_is_refused(graph_of):
    with pytest.raises(GraphError, match="entry 2: the id is empty"):
        graph_of("a,b\n", nodes=["c", ""])


NUMBERED = "No;Citing;Cited;Clicks\n1;Bede;Rome;3\n2;Rome;Nero;1\n3;Nero;Bede;4\n"


def test_numbers_and_strings_are_not_paired_by_position(graph_of):
    with pytest.raises(FormatError, match="'No' and 'Author' would be an edge, but they hold numb"):
        graph_of(NUMBERED.replace("Citing", "Author"))
    assert ids(graph_of(NUMBERED, source="Citing", target="Cited")) == ["Bede", "Nero", "Rome"]
    assert ids(graph_of("1,Bede\n2,Rome\n")) == ["1", "2", "Bede", "Rome"]  # there are no others


def test_the_target_is_to_the_right_of_a_requested_source(graph_of):
    graph = graph_of(NUMBERED, source="Citing")
    assert graph.origin["columns"]["target"] == "Cited"


def test_the_advice_is_valid_python(graph_of, caplog):
    graph_of("source,target,# clicks\na,b,3\nb,c,4\n")
    assert "weight='# clicks'" in caplog.text


@pytest.mark.parametrize(
    "content",
    [
        "a b {'weight': 31}\nb c {'weight': 0.5}\n",
        "a b {'color': 'red', 'weight': np.float64(31.0)}\nb c {'weight': 0.5}\n",
        "a,b,{'weight': 31, 'color': 'red'}\nb,c,{'weight': 0.5}\n",
        "a;b;31\nb;c;0,5\n",
        "source\ttarget\tweight\na\tb\t31\nb\tc\t0,5\n",
    ],
)
def test_weights_of_networkx_and_with_decimal_commas_are_read(graph_of, content):
    graph = graph_of(content)
    assert ids(graph) == ["a", "b", "c"]
    assert graph.to_scipy().toarray()[[0, 1], [1, 2]].tolist() == [31, 0.5]


@pytest.mark.parametrize("first", ["1.0;2.0;31", "1,0;2,0;31", "1;2;31"])
def test_decimal_commas_are_recognized_beside_whole_ids_and_bad_cells(graph_of, first):
    rest = first.replace("31", "0,5")
    graph = graph_of(f"source;target;weight\n{first}\n{rest}\n{rest[:-3]}n/a\n", bad_rows="skip")
    assert ids(graph) == [1, 2]
    assert graph.weights.tolist() == [31.5, 31.5]
    assert graph.origin["decimal mark"] == "comma"
    assert graph.origin["skipped rows"] == {
        "the weight is not a number": {"rows": 1, "first": "line 4"}
    }
    with pytest.raises(FormatError, match="line 4: the weight 'n/a' is not a number"):
        graph_of(f"source;target;weight\n{first}\n{rest}\n{rest[:-3]}n/a\n")


def test_ids_with_commas_stay_strings_unless_commas_are_decimal_marks(graph_of):
    assert ids(graph_of("source;target\n1,0;2,0\n")) == ["1,0", "2,0"]
    assert ids(graph_of("source;target;weight\n1,0;2,0;1,5\n1,0;x;0,5\n")) == ["1,0", "2,0", "x"]


def test_an_edge_of_networkx_without_a_weight_has_weight_1(graph_of):
    graph = graph_of("a b {'weight': 31}\nb c {}\n")
    assert graph.to_scipy().toarray()[[0, 1], [1, 2]].tolist() == [31, 1]


def test_attributes_of_networkx_without_a_weight_are_ignored_with_a_warning(graph_of, caplog):
    assert graph_of("a b {}\nb c {}\n").weights is None
    assert caplog.text == ""
    assert graph_of("a b {'capacity': 3}\nb c {}\n").weights is None
    assert "{'capacity': 3}, have no 'weight' and are ignored" in caplog.text


def test_numbers_that_may_be_thousands_are_ignored_with_a_warning(graph_of, caplog):
    assert graph_of("a;b;1,500\nb;c;2,000\n").weights is None
    assert "column 3 looks like numbers with commas (1,500)" in caplog.text


@pytest.mark.parametrize("zeros", ["", "000"])
def test_weights_that_look_like_timestamps_give_a_warning(graph_of, caplog, zeros):
    graph_of(f"a,b,1700000000{zeros}\nb,c,1700000060{zeros}\n")
    assert "column 3 is used as the weight, although" in caplog.text.lower()
    caplog.clear()
    graph_of("a,b,1700000000\nb,c,7\n")
    graph_of("a,b,1700000000\n", weight=3, header=False)
    assert caplog.text == ""
