"""A run that is killed, or a disk that is full, leaves the old file or none, never half of one."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from embeddings import SUFFIXES, files_of, made, same

import hopvec
from hopvec import Embedding, FormatError
from hopvec.formats import rows

no_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"vectors{request.param}"


def failing_on_call(number, function):
    """The function, but the call of that number finds the disk full."""
    calls = iter(range(1, 1000))

    def wrapped(*arguments):
        if next(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        return function(*arguments)

    return wrapped


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_full_disk_leaves_the_old_files_as_they_were(path, monkeypatch, function, number):
    made(seed=1).save(path)
    before = files_of(path.parent)
    monkeypatch.setattr(os, function, failing_on_call(number, getattr(os, function)))
    try:
        made(seed=2).save(path)
    except FormatError as error:
        assert str(error) == f"{path}: cannot be written (No space left on device)."  # noqa: PT017
        assert files_of(path.parent) == before
    else:
        assert number > len(before)
        assert same(hopvec.load(path), made(seed=2), path)
        assert set(files_of(path.parent)) == set(before)


@pytest.mark.parametrize("number", [1, 2])
def test_a_full_disk_leaves_nothing_where_nothing_was(path, monkeypatch, number):
    monkeypatch.setattr(os, "replace", failing_on_call(number, os.replace))
    if number == 2 and path.suffix != ".npy":
        return
    with pytest.raises(FormatError):
        made().save(path)
    assert files_of(path.parent) == {}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_a_writer_that_fails_midway_leaves_the_old_files_as_they_were(path, monkeypatch, error):
    made(seed=1).save(path)
    before = files_of(path.parent)

    def fail(block):
        raise error

    monkeypatch.setattr(rows, "BLOCK_BYTES", 40)
    monkeypatch.setattr(rows, "forget", fail)
    with pytest.raises(error):
        made(seed=2).save(path)
    assert files_of(path.parent) == before


LIMITED = """
import resource, sys
import numpy as np
import pyarrow as pa
import hopvec

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
embedding = hopvec.Embedding(np.random.rand(2000, 100).astype(np.float32), pa.array(range(2000)))
try:
    embedding.save(sys.argv[1])
except hopvec.FormatError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_file_that_may_not_grow_is_said_so_and_leaves_the_old_one(path):
    made().save(path)
    before = files_of(path.parent)
    finished = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    assert finished.stdout.startswith(f"{path}: cannot be written (")
    assert finished.stdout.count("\n") == 1
    assert finished.stderr == ""
    assert files_of(path.parent) == before


KILLED = """
import os, signal, sys
import numpy as np
import pyarrow as pa
import hopvec
from hopvec.formats import rows

rows.BLOCK_BYTES = 12
rows.forget = lambda block: os.kill(os.getpid(), signal.SIGKILL)
hopvec.Embedding(np.zeros((2, 3), np.float32), pa.array([1, 2])).save(sys.argv[1])
"""


@no_kill
def test_a_process_killed_while_saving_leaves_the_old_files_as_they_were(path):
    made().save(path)
    before = files_of(path.parent)
    finished = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert finished.returncode == -signal.SIGKILL
    assert files_of(path.parent).items() >= before.items()
    assert same(hopvec.load(path), made(), path)


KILLED_BETWEEN = """
import os, signal, sys
import numpy as np
import pyarrow as pa
import hopvec

calls = iter(range(1, 100))
replace = os.replace

def wrapped(*arguments):
    if next(calls) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    replace(*arguments)

embedding = hopvec.Embedding(np.zeros((9, 5), np.float32), pa.array(range(9)))
os.replace = wrapped
embedding.save(sys.argv[1])
"""


@no_kill
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_ids_are_never_left_beside_the_vectors_of_another_run(tmp_path, number):
    path = tmp_path / "vectors.npy"
    made().save(path)
    finished = subprocess.run(
        [sys.executable, "-c", KILLED_BETWEEN, str(path), str(number)], check=False
    )
    assert finished.returncode == -signal.SIGKILL
    if number == 1:
        assert same(hopvec.load(path), made(), path)
    else:
        with pytest.raises(FormatError, match="there is no such file"):
            hopvec.load(path)
    made(seed=2).save(path)
    assert same(hopvec.load(path), made(seed=2), path)


MEASURED = """
import resource, sys
import numpy as np
import pyarrow as pa
import hopvec
from hopvec.formats import rows, text

rows.BLOCK_BYTES, text.LINE_BYTES = 1 << 20, 1 << 18
vectors = np.load(sys.argv[1], mmap_mode="r")
ids = pa.array(np.arange(len(vectors)))
hopvec.Embedding(np.ones((9000, 128), np.float32), ids[:9000]).save(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
hopvec.Embedding(vectors, ids).save(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measured as Linux counts")
def test_vectors_on_disk_are_saved_without_reading_them_into_memory(tmp_path_factory, path):
    source = tmp_path_factory.getbasetemp() / "large.npy"
    if not source.exists():
        np.save(source, np.random.default_rng(0).standard_normal((100_000, 128), np.float32))
    if path.suffix in (".tsv", ".gz", ".vec", ".feather"):
        pytest.skip("written as another suffix is")
    finished = subprocess.run(
        [sys.executable, "-c", MEASURED, str(source), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(finished.stdout) < 15_000  # kB; the vectors are 51 MB
    assert len(hopvec.load(path)) == 100_000


def test_saving_reads_a_memory_map_that_is_written_to(tmp_path):
    vectors = np.memmap(tmp_path / "raw", np.float32, "w+", shape=(2000, 100))
    vectors[:] = np.arange(100)
    embedding = Embedding(vectors, made().ids.take(np.zeros(2000, int)))
    embedding.save(tmp_path / "vectors.parquet")
    assert (embedding.vectors == np.arange(100)).all()
    assert (hopvec.load(tmp_path / "vectors.parquet").vectors == np.arange(100)).all()
