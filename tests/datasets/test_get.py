"""Getting datasets: published files, and web graphs extracted from a release."""

import gzip
import hashlib
import io
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from hopvec import DatasetError
from hopvec.datasets import catalog as module
from hopvec.datasets import get, load
from hopvec.datasets.catalog import File, Statistics, catalog

EDGES = b"0\t1\n1\t0\n1\t2\n2\t3\n"
VERTICES = b"0\tcom.facebook\n1\torg.wikipedia.en\n2\tuk.co.bbc\n3\tuk.co.other\n"
RANKS = b"""\
#hc_pos\t#hc_val\t#pr_pos\t#pr_val\t#host_rev
1\t9\t1\t0.3\tcom.facebook
2\t8\t2\t0.2\tuk.co.bbc
3\t7\t3\t0.1\torg.wikipedia.en
4\t6\t4\t0.0\tuk.co.other
"""


def matrix_file():
    file = io.BytesIO()
    triangle = np.ones((3, 3)) - np.eye(3)
    savemat(file, {"network": sp.csc_matrix(triangle), "group": sp.csc_matrix(np.eye(3))})
    return file.getvalue()


@pytest.fixture
def flickr(serve, monkeypatch):
    """A server with a small flickr.mat, which the catalog points to."""
    server = serve(matrix_file())
    files = (File("flickr.mat", url=server.url),)
    monkeypatch.setitem(catalog(), "flickr", replace(catalog()["flickr"], files=files))
    return server


@pytest.fixture
def release(serve, monkeypatch):
    """A server with a small release of Common Crawl; the catalog extracts 3 of its hosts."""
    server = serve(b"")
    server.files = {
        "vertices.txt.gz": gzip.compress(VERTICES),
        "edges.txt.gz": gzip.compress(EDGES),
        "ranks.txt.gz": gzip.compress(RANKS),
    }
    monkeypatch.setattr(module, "RELEASES", server.url.removesuffix("/graph.mat"))
    small = replace(catalog()["www-10k"], published=Statistics(3, 2, 2), classes=2)
    monkeypatch.setitem(catalog(), "www-10k", small)
    return server


def test_a_downloaded_dataset_can_be_loaded(flickr, tmp_path):
    assert get("flickr", tmp_path) == tmp_path / "flickr"
    assert load("flickr", tmp_path).graph.edges == 3


def test_get_and_load_use_the_same_directory(flickr, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPVEC_DATA", str(tmp_path / "graphs"))
    get("flickr")
    assert (tmp_path / "graphs" / "flickr" / "flickr.mat").exists()
    assert load("flickr").graph.edges == 3


def test_existing_files_are_not_downloaded_again(flickr, tmp_path):
    get("flickr", tmp_path)
    get("flickr", tmp_path)
    assert len(flickr.requests) == 1


def test_a_known_checksum_is_verified(flickr, tmp_path, monkeypatch):
    (file,) = catalog()["flickr"].files
    other = replace(file, sha256=hashlib.sha256(b"another").hexdigest())
    entry = replace(catalog()["flickr"], files=(other,))
    monkeypatch.setitem(catalog(), "flickr", entry)
    with pytest.raises(DatasetError, match="The file was removed"):
        get("flickr", tmp_path)
    assert not (tmp_path / "flickr" / "flickr.mat").exists()


def test_without_a_url_the_error_says_where_to_copy_the_files(tmp_path):
    with pytest.raises(DatasetError, match=rf"cora: .*Copy its files to {tmp_path / 'cora'}\."):
        get("cora", tmp_path)


def test_without_a_url_existing_files_are_used(data_dir):
    if not (data_dir / "cora").exists():
        pytest.skip("no cora in the data directory")
    assert get("cora", data_dir) == data_dir / "cora"


def test_a_bundled_dataset_needs_no_download(tmp_path):
    assert (get("debian-packages", tmp_path) / "debian-edges.parquet").exists()


class TestWebGraphs:
    def test_the_top_hosts_of_a_release_become_a_dataset(self, release, tmp_path):
        get("www-10k", tmp_path)
        found = load("www-10k", tmp_path)
        assert found.graph.ids.to_pylist() == ["facebook.com", "bbc.co.uk", "en.wikipedia.org"]
        assert found.graph.edges == 2
        assert found.graph.to_scipy()[[0, 1], [2, 2]].tolist() == [1, 1]
        assert found.labels.classes == ("com", "org")
        assert found.labels.labeled == 2

    def test_a_downloaded_release_is_reused(self, release, tmp_path):
        get("www-10k", tmp_path)
        directory = tmp_path / "cc-main-2017-feb-mar-apr-hostgraph"
        names = {path.name for path in directory.iterdir()}
        assert {"vertices.txt.gz", "edges.txt.gz", "ranks.txt.gz"} < names
        for path in (tmp_path / "www-10k").iterdir():
            path.unlink()
        get("www-10k", tmp_path)
        assert len(release.requests) == 3

    def test_an_existing_web_graph_is_not_extracted_again(self, release, tmp_path):
        get("www-10k", tmp_path)
        reported = []
        get("www-10k", tmp_path, build_progress=lambda done, total: reported.append(done))
        assert reported == []

    def test_both_steps_report_progress(self, release, tmp_path):
        fetched, made = [], []
        get(
            "www-10k",
            tmp_path,
            progress=lambda done, total: fetched.append((done, total)),
            build_progress=lambda done, total: made.append((done, total)),
        )
        size = sum(map(len, release.files.values()))
        assert {(len(content), len(content)) for content in release.files.values()} <= set(fetched)
        assert made[-1] == (size, size)
