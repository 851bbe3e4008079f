"""Checks before a run that its result can be written."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from hopvec import FastRP, FormatError, Graph
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.formats.destination import bytes_on_disk, check_destination, check_space
from one_pass import one_pass


def test_a_new_file_in_a_directory_is_accepted(tmp_path):
    check_destination(tmp_path / "vectors.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(FormatError, match="you do not have permission to write there"):
        check_destination(tmp_path / "vectors.npz")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "vectors.npz")
    with pytest.raises(FormatError, match="a device or a pipe, which a file would replace"):
        check_destination(tmp_path / "vectors.npz")


def test_a_file_larger_than_the_free_disk_space_is_refused(tmp_path):
    check_space(tmp_path / "vectors.npz", 1)
    with pytest.raises(FormatError, match=r"vectors.npz: the file needs about 1e\+06 TB"):
        check_space(tmp_path / "vectors.npz", 10**18)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("suffix", EMBEDDING_FORMATS)
def test_the_estimated_size_is_about_that_of_the_file(tmp_path, suffix, dtype):
    if dtype not in EMBEDDING_FORMATS[suffix].DTYPES:
        pytest.skip(f"{suffix} does not support {dtype}")
    graph, path = Graph.from_edges(range(999), range(1, 1000)), tmp_path / f"vectors{suffix}"
    one_pass(dim=128).embed(graph).save(path, dtype=dtype)
    size = path.stat().st_size
    assert 0.7 * size < bytes_on_disk(graph, 128, path, dtype) < 2.5 * size


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_a_directory_that_takes_no_files_is_refused_even_for_root():
    with pytest.raises(FormatError, match=r"^/proc/x.parquet: you do not have permission to write"):
        check_destination(Path("/proc/x.parquet"))


@pytest.mark.parametrize("name", ["v.parquet", "v.arrow", "v.npz", "v.csv"])
def test_the_estimate_includes_the_fitted_state(tmp_path, name):
    graph = Graph.from_edges(*np.random.default_rng(0).integers(0, 50, (2, 200)))
    method, path = FastRP(dim=128), tmp_path / name
    method.embed(graph).save(path)
    expected = bytes_on_disk(graph, 128, path, state_bytes=method._state_bytes())
    assert 0.6 * path.stat().st_size < expected < 1.7 * path.stat().st_size
