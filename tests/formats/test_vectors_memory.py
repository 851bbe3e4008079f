"""Memory-mapped vectors are saved in blocks, and loading needs the memory of one copy."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import hopvec
from hopvec import Embedding

ROWS, DIM, BYTES = 100_000, 128, 51_200_000
SUFFIXES = [".parquet", ".arrow", ".npy", ".npz", ".csv", ".bin"]
TEXT = {".csv"}  # blocks are parsed ahead, which needs much memory relative to so few vectors

PREPARED = r"""
import pathlib, re, sys
import numpy as np
import pyarrow as pa
import hopvec
from hopvec.formats import blocks, text

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024

blocks.BLOCK_BYTES, text.LINE_BYTES, text.READ_BYTES = 1 << 20, 1 << 18, 1 << 20
source, path, small = sys.argv[1:]
hopvec.Embedding(np.ones((9000, 128), np.float32), pa.array(np.arange(9000))).save(small)
hopvec.load(small)
"""
SAVED = """
vectors = np.load(source, mmap_mode="r")
embedding = hopvec.Embedding(vectors, pa.array(np.arange(len(vectors))))
before = peak()
embedding.save(path)
print(peak() - before)
"""
LOADED = """
before = peak()
hopvec.load(path)
print(peak() - before)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "vectors.npy"
    np.save(path, np.random.default_rng(0).standard_normal((ROWS, DIM), np.float32))
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_vectors_are_saved_in_blocks_and_loaded_once(tmp_path, source, suffix):
    path, small = tmp_path / f"vectors{suffix}", tmp_path / f"small{suffix}"

    def growth(code):
        command = [sys.executable, "-c", PREPARED + code, str(source), str(path), str(small)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert growth(SAVED) < 0.3 * BYTES
    assert growth(LOADED) < (2.4 if suffix in TEXT else 1.4) * BYTES
    loaded = hopvec.load(path)
    assert loaded.vectors.tobytes() == np.load(source).tobytes()
    assert loaded.ids.equals(pa.array(np.arange(ROWS)))


def test_saving_a_writable_memory_map_leaves_its_values(tmp_path):
    vectors = np.memmap(tmp_path / "raw", np.float32, "w+", shape=(2000, 100))
    vectors[:] = np.arange(100)
    embedding = Embedding(vectors, pa.array(np.arange(2000)))
    embedding.save(tmp_path / "vectors.parquet")
    assert (embedding.vectors == np.arange(100)).all()
    assert (hopvec.load(tmp_path / "vectors.parquet").vectors == np.arange(100)).all()
