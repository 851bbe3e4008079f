"""The catalog of datasets, loading them, and their published statistics."""

import gzip
import logging

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.io import savemat

import hopvec
from hopvec import DatasetError, FormatError, ParameterError
from hopvec.datasets import available, debian, load
from hopvec.datasets.archive import read_archive, write_archive
from hopvec.datasets.catalog import catalog, find
from hopvec.datasets.load import data_directory

NAMES = [
    *("blogcatalog", "flickr", "youtube", "www-10k", "www-200k", "ppi", "wikipedia-pos", "dblp"),
    *("cora", "citeseer", "pubmed", "email-eu-core", "polblogs", "wikispeedia", "eurosis"),
    *("uk-web-1996", "web-trackers-2018", "debian-packages", "debian-files"),
    *("debian-files-full", "wordnet", "cnr-2000", "soc-slashdot0902"),
]
NAMED = ["polblogs", "wikispeedia", "uk-web-1996", "debian-packages", "www-10k", "www-200k"]
ISOLATED = {
    "citeseer": 48,
    "polblogs": 266,
    "debian-packages": 3_076,
    "uk-web-1996": 3_250,
    "wordnet": 1_009,
}
LABELED = {
    "citeseer": 3_327 - 15,
    "wikispeedia": 4_604 - 6,
    "uk-web-1996": 55_249,
    "web-trackers-2018": 1_330,
    "debian-files": 63_436,
    "debian-files-full": 63_436,
}
FETCHED = ["blogcatalog", "flickr", "youtube", "www-10k", "www-200k", "ppi", "wikipedia-pos"]
TRIANGLE = sp.csc_matrix(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
GROUP = sp.csc_matrix(np.array([[1, 0], [1, 1], [0, 0]]))


@pytest.fixture
def no_settings(monkeypatch, tmp_path):
    """A home directory without datasets."""
    for name in ("HOPVEC_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def small_flickr(tmp_path):
    (tmp_path / "flickr").mkdir()
    savemat(tmp_path / "flickr" / "flickr.mat", {"network": TRIANGLE, "group": GROUP})
    return tmp_path


@pytest.fixture
def small_hosts(tmp_path):
    names = ["facebook.com", "bbc.co.uk", "en.wikipedia.org"]
    source, target = np.array([0, 0], np.int32), np.array([1, 2], np.int32)
    write_archive(tmp_path / "www-10k", names, source, target, ["com", None, "org"])
    return tmp_path


def test_the_catalog_lists_these_names():
    assert list(catalog()) == NAMES


@pytest.mark.parametrize("name", NAMES)
class TestEveryEntry:
    def test_it_has_a_title_a_source_a_license_and_a_citation(self, name):
        entry = find(name)
        for text in (entry.title, entry.source, entry.license, entry.citation):
            assert text
            assert not text.endswith(".")

    def test_checksums_have_64_digits_and_a_size(self, name):
        for file in find(name).files:
            assert (file.bytes is None) == (file.sha256 is None)
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32

    def test_files_have_the_listed_size_and_checksum(self, name, data_dir):
        from hopvec.datasets.checksum import sha256_of

        for file in find(name).files:
            path = data_dir / name / file.name
            if not path.exists():
                pytest.skip(f"no {path}")
            assert path.stat().st_size == file.bytes
            assert sha256_of(path) == file.sha256

    def test_every_url_has_evidence(self, name):
        entry = find(name)
        assert entry.can_be_fetched == (name in FETCHED)
        assert bool(entry.evidence) == entry.can_be_fetched


@pytest.fixture
def load_or_skip(data_dir):
    """Loads a dataset from the data directory, or skips the test."""

    def get(name):
        try:
            return load(name, data_dir)
        except DatasetError as error:
            pytest.skip(str(error))

    return get


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_has_its_published_statistics(name, load_or_skip, caplog):
    found = load_or_skip(name)
    graph, labels, published = found.graph, found.labels, found.published
    assert found.name == name
    assert graph.nodes == len(graph.ids) == published.nodes
    assert graph.edges - published.loops == published.edges
    assert graph.isolated == ISOLATED.get(name, graph.isolated)
    assert (graph.weights is not None) == (name == "wikipedia-pos")
    assert pa.types.is_integer(graph.ids.type) == (name not in NAMED)
    assert found.nodes is None or len(found.nodes) == graph.nodes
    assert (labels is None) == (published.classes is None)
    if labels:
        assert len(labels.classes) == published.classes
        assert labels.ids.equals(graph.ids)
        assert labels.labeled == LABELED.get(name, labels.labeled)
    assert not caplog.records


def test_names_that_are_not_unique_become_a_column(load_or_skip):
    found = load_or_skip("eurosis")
    assert found.graph.ids[:3].to_pylist() == [0, 1, 2]
    assert found.nodes.column_names == ["name", "label", "actor_type"]


def test_labels_are_in_the_order_of_the_nodes(load_or_skip):
    found = load_or_skip("wikispeedia")
    expected = found.nodes["label"].to_pylist()
    matrix, classes = found.labels.matrix, found.labels.classes
    for row in range(0, found.graph.nodes, 97):
        assert [classes[at] for at in matrix[[row]].indices] == [expected[row]]


def test_edges_match_the_file(load_or_skip, data_dir):
    adjacency = load_or_skip("polblogs").graph.to_scipy()
    raw = np.load(data_dir / "polblogs" / "edges.npz")
    assert adjacency[raw["src"], raw["dst"]].sum() == len(raw["src"]) == 16_715


class TestBundled:
    def test_it_needs_no_data_directory(self, no_settings):
        found = load("debian-packages")
        graph, sections = debian()
        assert found.graph.ids.equals(graph.ids)
        assert (found.graph.nodes, found.graph.edges) == (63_436, 294_758)
        assert len(found.labels.classes) == 58
        assert found.nodes["label"].to_pylist() == sections.to_pylist()

    def test_it_equals_the_dataset_in_the_data_directory(self, data_dir, tmp_path):
        if not (data_dir / "debian-packages").exists():
            pytest.skip("no debian-packages in the data directory")
        here, bundled = load("debian-packages", data_dir), load("debian-packages", tmp_path)
        assert here.graph.ids.equals(bundled.graph.ids)
        assert np.array_equal(here.graph.indices, bundled.graph.indices)
        assert (here.labels.matrix != bundled.labels.matrix).nnz == 0
        assert here.labels.classes == bundled.labels.classes


class TestDataDirectory:
    def test_the_argument_takes_precedence(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HOPVEC_DATA", "/elsewhere")
        assert data_directory(tmp_path) == tmp_path

    def test_the_environment_variable_is_next(self, monkeypatch, tmp_path, no_settings):
        monkeypatch.setenv("HOPVEC_DATA", str(tmp_path))
        assert data_directory() == tmp_path

    def test_the_cache_directory_is_the_default(self, monkeypatch, tmp_path, no_settings):
        assert data_directory() == no_settings / ".cache" / "hopvec"
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert data_directory() == tmp_path / "hopvec"

    def test_a_tilde_is_expanded(self, no_settings):
        assert data_directory("~/graphs") == no_settings / "graphs"


class TestMissing:
    def test_the_error_names_the_directory_and_how_to_get_the_data(self, tmp_path):
        with pytest.raises(DatasetError) as caught:
            load("flickr", tmp_path)
        assert str(caught.value) == (
            f"flickr: there is no flickr.mat in {tmp_path / 'flickr'}. Download it with hopvec "
            "data get flickr, from http://leitang.net/code/social-dimension/data/flickr.mat "
            "(unknown size); or name the directory that has it with data= or $HOPVEC_DATA."
        )

    def test_a_known_size_is_shown(self, tmp_path):
        with pytest.raises(DatasetError, match=r"blogcatalog\.mat \(1\.26 MB\)"):
            load("blogcatalog", tmp_path)

    def test_the_error_names_the_source_of_a_dataset_without_a_url(self, tmp_path):
        with pytest.raises(DatasetError, match=r"cora: .* made from GitHub kimiyoung.*Copy it"):
            load("cora", tmp_path)

    def test_all_files_of_the_web_graphs_are_listed(self, tmp_path):
        with pytest.raises(DatasetError, match=r"vertices\.txt\.gz .*ranks\.txt\.gz .*edges\.txt"):
            load("www-200k", tmp_path)

    def test_an_unknown_name_is_refused_with_a_suggestion(self):
        with pytest.raises(ParameterError, match=r"'blogcatlog'\. Did you mean 'blogcatalog'\?"):
            load("blogcatlog")
        with pytest.raises(ParameterError, match="Choose from blogcatalog, flickr"):
            load("xyz")


class TestFiles:
    def test_a_matrix_has_row_numbers_as_ids_and_groups_as_labels(self, small_flickr):
        found = load("flickr", small_flickr)
        assert found.graph.ids.to_pylist() == [0, 1, 2]
        assert found.graph.edges == 3
        assert found.labels.matrix.toarray().tolist() == [[1, 0], [1, 1], [0, 0]]
        assert found.nodes is None
        assert found.license == "none stated"

    def test_a_file_that_does_not_match_its_recorded_checksum_gives_a_warning(
        self, small_flickr, caplog
    ):
        checksum_file = small_flickr / "flickr" / "flickr.mat.sha256"
        checksum_file.write_text(f"{'0' * 64}  flickr.mat\n")
        with caplog.at_level(logging.WARNING, "hopvec"):
            assert load("flickr", small_flickr).graph.edges == 3
        (record,) = caplog.records
        assert f"flickr.mat: its sha256 is not {'0' * 64}, so this is not" in record.getMessage()

    def test_an_archive_round_trips(self, small_hosts):
        found = load("www-10k", small_hosts)
        assert found.graph.ids.to_pylist() == ["facebook.com", "bbc.co.uk", "en.wikipedia.org"]
        assert found.graph.edges == 2
        assert found.labels.classes == ("com", "org")
        assert found.labels.matrix.toarray().tolist() == [[1, 0], [0, 0], [0, 1]]
        assert found.nodes.to_pydict() == {
            "name": ["facebook.com", "bbc.co.uk", "en.wikipedia.org"],
            "label": ["com", None, "org"],
        }

    def test_vectors_equal_those_of_the_same_edges_by_name(self, small_hosts):
        found = load("www-10k", small_hosts).graph
        edges = ["facebook.com", "facebook.com"], ["bbc.co.uk", "en.wikipedia.org"]
        other = hopvec.Graph.from_edges(*edges, nodes=found.ids)
        method = hopvec.FastRP(dim=8, sparsity=2)
        assert np.array_equal(method.embed(found).vectors, method.embed(other).vectors)

    def test_an_archive_is_written_as_the_same_bytes(self, small_hosts, tmp_path_factory):
        again = tmp_path_factory.mktemp("again")
        names = ["facebook.com", "bbc.co.uk", "en.wikipedia.org"]
        source, target = np.array([0, 0], np.int32), np.array([1, 2], np.int32)
        write_archive(again, names, source, target, ["com", None, "org"])
        for name in ("edges.npz", "nodes.csv.gz"):
            assert (again / name).read_bytes() == (small_hosts / "www-10k" / name).read_bytes()


class TestDamage:
    @pytest.fixture
    def directory(self, small_hosts):
        return small_hosts / "www-10k"

    def rewrite(self, directory, **changed):
        arrays = dict(np.load(directory / "edges.npz")) | changed
        np.savez(directory / "edges.npz", **{k: v for k, v in arrays.items() if v is not None})

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"src": None}, "there is no array 'src'; it holds"),
            ({"src": np.array([0, 3])}, "the id 3 is out of range"),
            ({"src": np.array([0, -1])}, "the id -1 is out of range"),
            ({"label": np.array([0, 1])}, "it has 3 nodes, but 2 labels"),
            ({"label": np.array([0, 1, 2])}, "array label, entry 3: there is no class 2"),
        ],
    )
    def test_inconsistent_arrays_are_refused(self, directory, changed, message):
        self.rewrite(directory, **changed)
        with pytest.raises(FormatError, match=rf"edges\.npz.*{message}"):
            read_archive(directory)

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello"])
    def test_a_file_that_is_not_an_archive_is_refused(self, directory, content):
        (directory / "edges.npz").write_bytes(content)
        with pytest.raises(FormatError, match=r"edges\.npz: (this is not an|damaged) \.npz"):
            read_archive(directory)

    @pytest.mark.parametrize(
        "content",
        [b"", gzip.compress(b"name\na\n"), gzip.compress(b"x\na\nb\nc\n"), b"\x1f\x8b nonsense"],
        ids=["empty", "two rows missing", "no names", "not gzip"],
    )
    def test_invalid_nodes_are_refused(self, directory, content):
        (directory / "nodes.csv.gz").write_bytes(content)
        with pytest.raises(FormatError, match=r"nodes\.csv\.gz: (cannot be read|it must have)"):
            read_archive(directory)


class TestAvailable:
    def test_it_lists_existing_datasets_with_their_size(self, small_flickr):
        found = {one.name: one for one in available(small_flickr)}
        assert sorted(found) == ["debian-packages", "flickr"]
        path = small_flickr / "flickr"
        assert found["flickr"].directory == path
        assert found["flickr"].bytes == (path / "flickr.mat").stat().st_size
        assert found["debian-packages"].directory is None
        assert 5e5 < found["debian-packages"].bytes < 1e6

    def test_an_incomplete_dataset_is_not_listed(self, small_hosts):
        (small_hosts / "www-10k" / "nodes.csv.gz").unlink()
        assert [one.name for one in available(small_hosts)] == ["debian-packages"]

    def test_a_missing_directory_has_only_bundled_datasets(self, tmp_path):
        assert [one.name for one in available(tmp_path / "absent")] == ["debian-packages"]
