"""Extracting the most central hosts from the files of a Common Crawl release."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

from hopvec import FormatError
from hopvec.datasets.common_crawl import Hosts, forwards, top_hosts

HOSTS = [  # in the order of their ids: reversed names, sorted
    "com.facebook",
    "com.google.plus",
    "com.googleapis.fonts",
    "com.twitter",
    "com.youtube",
    "es.elpais",
    "org.example",
    "org.wikipedia.en",
    "uk.co.bbc",
]
FIRST = ["com.facebook", "com.twitter", "org.wikipedia.en", "uk.co.bbc", "com.youtube"]
LINKS = [
    ("com.facebook", "com.twitter"),
    ("com.facebook", "org.example"),  # not among the top hosts
    ("com.google.plus", "com.youtube"),
    ("com.twitter", "com.facebook"),  # the reverse direction
    ("com.twitter", "org.wikipedia.en"),
    ("com.youtube", "com.twitter"),
    ("org.wikipedia.en", "com.facebook"),
    ("org.wikipedia.en", "com.facebook"),  # again
    ("uk.co.bbc", "org.wikipedia.en"),
]
NAMES = "#hc_pos\t#hc_val\t#pr_pos\t#pr_val\t#host_rev\n"


def ranks_text(hosts):
    rows = (f"{at}\t{4e7 - at:.0f}\t{at}\t0.0{at}\t{host}\n" for at, host in enumerate(hosts, 1))
    return NAMES + "".join(rows)


def all_ranked():
    return FIRST + [host for host in HOSTS if host not in FIRST]


@pytest.fixture
def release(tmp_path):
    """The three files of a release, as Common Crawl writes them."""
    texts = {
        "vertices": "".join(f"{id}\t{host}\n" for id, host in enumerate(HOSTS)),
        "edges": "".join(f"{HOSTS.index(u)}\t{HOSTS.index(v)}\n" for u, v in LINKS),
        "ranks": ranks_text(all_ranked()),
    }

    def write(**changed):
        paths = {}
        for name, text in (texts | changed).items():
            paths[name] = tmp_path / f"{name}.txt.gz"
            paths[name].write_bytes(gzip.compress(text.encode()))
        return paths

    return write


def edges_of(hosts):
    return {
        frozenset((hosts.names[u], hosts.names[v]))
        for u, v in zip(hosts.source, hosts.target, strict=True)
    }


def test_hosts_are_in_the_order_of_their_rank_with_their_usual_names(release):
    hosts = top_hosts(**release(), count=5)
    assert hosts.names == [
        "facebook.com",
        "twitter.com",
        "en.wikipedia.org",
        "bbc.co.uk",
        "youtube.com",
    ]


def test_links_become_undirected_edges_without_duplicates(release):
    hosts = top_hosts(**release(), count=5)
    assert edges_of(hosts) == {
        frozenset(("facebook.com", "twitter.com")),
        frozenset(("twitter.com", "en.wikipedia.org")),
        frozenset(("twitter.com", "youtube.com")),
        frozenset(("facebook.com", "en.wikipedia.org")),
        frozenset(("bbc.co.uk", "en.wikipedia.org")),
    }
    assert len(hosts.source) == 5
    assert (hosts.source < hosts.target).all()
    assert hosts.source.dtype == hosts.target.dtype == np.int32


@pytest.mark.parametrize("count", range(1, len(HOSTS) + 1))
def test_the_subgraph_matches_a_simple_implementation(release, count):
    hosts = top_hosts(**release(), count=count)
    names = set(map(forwards, all_ranked()[:count]))
    expected = {frozenset(map(forwards, link)) for link in LINKS}
    assert edges_of(hosts) == {edge for edge in expected if edge <= names}
    assert len(hosts.names) == count


def test_the_order_of_the_lines_does_not_matter(release):
    whole = release()
    expected = top_hosts(**whole, count=6)
    texts = {name: gzip.decompress(path.read_bytes()).decode() for name, path in whole.items()}
    reordered = {
        name: "".join(sorted(text.splitlines(True), key=lambda line: (line[0] != "#", line[::-1])))
        for name, text in texts.items()
    }
    found = top_hosts(**release(**reordered), count=6)
    assert found.names == expected.names
    assert np.array_equal(found.source, expected.source)
    assert np.array_equal(found.target, expected.target)


def test_vertices_and_edges_may_be_in_several_uncompressed_files(release, tmp_path):
    paths = release()
    expected = top_hosts(**paths, count=6)
    for name in ("vertices", "edges"):
        lines = gzip.decompress(paths[name].read_bytes()).decode().splitlines(True)
        parts = [tmp_path / f"{name}-{at}.txt" for at in range(3)]
        for at, part in enumerate(parts):
            part.write_text("".join(lines[at::3]))
        paths[name] = parts
    found = top_hosts(**paths, count=6)
    assert found.names == expected.names
    assert edges_of(found) == edges_of(expected)


def test_an_additional_column_is_ignored(release):
    """Domain graphs have such a column: the number of hosts."""
    vertices = "".join(f"{id}\t{host}\t7\n" for id, host in enumerate(HOSTS))
    ranks = ranks_text(all_ranked()).replace("\n", "\t7\n")
    found = top_hosts(**release(vertices=vertices, ranks=ranks), count=5)
    assert found.names == top_hosts(**release(), count=5).names


def test_the_size_of_the_blocks_does_not_matter(release, monkeypatch):
    random = np.random.default_rng(0)
    names = [f"com.host{at:05}" for at in range(3000)]
    ranked = random.permutation(names).tolist()
    ends = random.integers(0, len(names), (40_000, 2))
    paths = release(
        vertices="".join(f"{id}\t{name}\n" for id, name in enumerate(names)),
        edges="".join(f"{u}\t{v}\n" for u, v in ends.tolist()),
        ranks=ranks_text(ranked),
    )
    monkeypatch.setattr("hopvec.formats.graphs.lines.BLOCK_BYTES", 5000)
    hosts = top_hosts(**paths, count=200)
    rank = {name: at for at, name in enumerate(ranked[:200])}
    expected = {
        tuple(sorted((rank[names[u]], rank[names[v]])))
        for u, v in ends.tolist()
        if names[u] in rank and names[v] in rank
    }
    assert set(zip(hosts.source.tolist(), hosts.target.tolist(), strict=True)) == expected
    assert len(hosts.source) == len(expected)


def test_lines_after_the_last_host_are_not_read(release, monkeypatch):
    monkeypatch.setattr("hopvec.formats.graphs.lines.BLOCK_BYTES", len(ranks_text(FIRST)))
    paths = release(ranks=ranks_text(FIRST) + "this is\tno line\n" * 100)
    assert len(top_hosts(**paths, count=5).names) == 5
    with pytest.raises(FormatError, match=r"line 7: 'this is\\tno line' has 2 of 5"):
        top_hosts(**paths, count=6)


def test_progress_reports_the_bytes_of_all_files(release):
    paths, reported = release(), []
    top_hosts(**paths, count=5, progress=lambda done, total: reported.append((done, total)))
    size = sum(path.stat().st_size for path in paths.values())
    assert reported[-1] == (size, size)
    assert reported == sorted(reported)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "edges",
            "0\t3\n3\n",
            r"line 2: '3' has 1 of 2 columns\. A line must contain from, to, s",
        ),
        ("edges", "0\t3\n3\t4\t5\n", r"line 2: '3\\t4\\t5' has 3 of 2 columns"),
        ("edges", "0\t3\n3\tx\n", r"line 2: '3\\tx' has no number for to\."),
        ("edges", "0\t3\n\nx\t4\n", r"line 3: 'x\\t4' has no number for from\."),
        ("edges", "0 3\n", r"line 1: '0 3' has 1 of 2 columns"),
        ("vertices", "0\tcom.facebook\ncom.twitter\t3\n", r"line 2: .* has no number for id"),
        ("ranks", NAMES + "1\t2\tcom.x\n", r"line 2: '1\\t2\\tcom\.x' has 3 of 5 columns"),
        ("ranks", NAMES + "first\t2\t3\t4\tcom.x\n", r"line 2: .* has no number for position"),
        ("edges", "0\t3\n1\0\t4\n", r"line 2: a null byte"),
    ],
)
def test_a_malformed_line_is_reported_with_file_and_number(release, file, text, message):
    with pytest.raises(FormatError, match=rf"{file}\.txt\.gz, {message}"):
        top_hosts(**release(**{file: text}), count=5)


def test_a_malformed_line_far_down_is_reported_with_its_number(release, monkeypatch):
    monkeypatch.setattr("hopvec.formats.graphs.lines.BLOCK_BYTES", 1000)
    edges = "0\t3\n" * 12_344 + "0\t?\n" + "0\t3\n" * 5000
    with pytest.raises(FormatError, match=r"edges\.txt\.gz, line 12,345: '0\\t\?' has no number"):
        top_hosts(**release(edges=edges), count=5)


def test_invalid_utf8_is_refused(tmp_path, release):
    paths = release()
    paths["vertices"].write_bytes(gzip.compress(b"0\tcom.facebook\n1\tcom.\xff\n"))
    with pytest.raises(FormatError, match=r"line 2: .* has a host that is not valid UTF-8"):
        top_hosts(**paths, count=5)


def test_fewer_ranks_than_requested_hosts_are_refused(release):
    with pytest.raises(FormatError, match=r"ranks\.txt\.gz: no host has the position 10, but 12"):
        top_hosts(**release(), count=12)


def test_two_hosts_with_the_same_position_are_refused(release):
    ranks = ranks_text(FIRST) + "2\t1\t1\t1\torg.example\n"
    with pytest.raises(FormatError, match=r"'com\.twitter' and 'org\.example' both have the"):
        top_hosts(**release(ranks=ranks), count=6)


def test_inconsistent_files_are_refused(release):
    vertices = "".join(f"{id}\t{host}\n" for id, host in enumerate(HOSTS[:-1]))
    with pytest.raises(FormatError, match=r"vertices\.txt\.gz: 'uk\.co\.bbc' has a rank"):
        top_hosts(**release(vertices=vertices), count=5)


def test_a_truncated_file_is_refused(release):
    paths = release(edges="0\t3\n" * 100_000)
    whole = paths["edges"].read_bytes()
    paths["edges"].write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"edges\.txt\.gz: the file is truncated"):
        top_hosts(**paths, count=5)


def test_a_missing_file_is_reported(release, tmp_path):
    with pytest.raises(FormatError, match=r"absent\.gz: there is no such file"):
        top_hosts(**release() | {"edges": tmp_path / "absent.gz"}, count=5)


class TestLabels:
    def labels(self, *names, classes=None):
        none = np.empty(0, np.int32)
        return Hosts(list(names), none, none).labels(classes)

    def test_a_label_is_the_top_level_domain(self):
        assert self.labels("a.com", "b.c.uk", "d.org") == ["com", "uk", "org"]

    def test_only_the_most_frequent_labels_are_used(self):
        names = ["a.com", "b.uk", "c.com", "d.org", "e.org", "f.com"]
        assert self.labels(*names, classes=2) == ["com", None, "com", "org", "org", "com"]

    def test_ties_are_broken_alphabetically(self):
        assert self.labels("a.pe", "b.ms", classes=1) == [None, "ms"]


def test_memory_does_not_grow_with_the_number_of_skipped_lines(release):
    """The columns of 4 million additional edges would take 64 MB."""
    code = (
        "import sys; from hopvec.datasets.common_crawl import top_hosts\n"
        "from hopvec.run_report import peak_memory\n"
        "top_hosts(*sys.argv[1:], count=5); print(peak_memory())"
    )

    def peak(lines):
        paths = release(edges="5\t6\n" * lines)
        command = [sys.executable, "-c", code, *(paths[n] for n in ("vertices", "edges", "ranks"))]
        return int(subprocess.run(command, capture_output=True, check=True).stdout)

    assert peak(4_500_000) < peak(500_000) + 25e6
