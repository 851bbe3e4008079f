"""A killed process or a full disk leaves the old file or none, never a part of one."""

import errno
import os
import signal
import subprocess
import sys
import zipfile

import pytest

import hopvec
from hopvec import FormatError
from hopvec.formats import blocks
from hopvec.formats.atomic import atomic_write
from saved_embeddings import SUFFIXES, directory_contents, random_embedding, same_embedding

no_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"vectors{request.param}"


def failing_on_call(number, function):
    """The function, which raises "disk full" on its `number`-th call."""
    calls = iter(range(1, 1000))

    def wrapped(*arguments):
        if next(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        return function(*arguments)

    return wrapped


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_full_disk_leaves_the_old_files_unchanged(path, monkeypatch, function, number):
    random_embedding(seed=1).save(path)
    before = directory_contents(path.parent)
    monkeypatch.setattr(os, function, failing_on_call(number, getattr(os, function)))
    try:
        random_embedding(seed=2).save(path)
    except FormatError as error:
        assert str(error) == f"{path}: cannot be written (No space left on device)."  # noqa: PT017
        assert directory_contents(path.parent) == before
    else:
        assert number > len(before)
        assert same_embedding(hopvec.load(path), random_embedding(seed=2), path)
        assert set(directory_contents(path.parent)) == set(before)


@pytest.mark.parametrize("number", [1, 2])
def test_a_full_disk_leaves_no_new_files(path, monkeypatch, number):
    monkeypatch.setattr(os, "replace", failing_on_call(number, os.replace))
    if number == 2 and path.suffix != ".npy":
        return
    with pytest.raises(FormatError):
        random_embedding().save(path)
    assert directory_contents(path.parent) == {}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_a_writer_that_fails_midway_leaves_the_old_files_unchanged(path, monkeypatch, error):
    random_embedding(seed=1).save(path)
    before = directory_contents(path.parent)

    def fail(block):
        raise error

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 40)
    monkeypatch.setattr(blocks, "release_pages", fail)
    with pytest.raises(error):
        random_embedding(seed=2).save(path)
    assert directory_contents(path.parent) == before


LIMITED = """
import resource, sys
import numpy as np
import pyarrow as pa
import hopvec

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
embedding = hopvec.Embedding(np.random.rand(2000, 100).astype(np.float32), pa.array(range(2000)))
for path in sys.argv[1:]:
    try:
        embedding.save(path)
    except hopvec.FormatError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_a_file_size_limit_is_reported_and_leaves_the_old_file(tmp_path):
    paths = [tmp_path / f"vectors{suffix}" for suffix in SUFFIXES]
    for path in paths:
        random_embedding().save(path)
    before = directory_contents(tmp_path)
    finished = subprocess.run(
        [sys.executable, "-c", LIMITED, *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    messages = finished.stdout.splitlines()
    for path, message in zip(paths, messages, strict=True):
        assert message == f"{path}: cannot be written (File too large)."
    assert finished.stderr == ""
    assert directory_contents(tmp_path) == before


KILLED = """
import os, signal, sys
import numpy as np
import pyarrow as pa
import hopvec
from hopvec.formats import blocks

blocks.BLOCK_BYTES = 12
blocks.release_pages = lambda block: os.kill(os.getpid(), signal.SIGKILL)
hopvec.Embedding(np.zeros((2, 3), np.float32), pa.array([1, 2])).save(sys.argv[1])
"""


@no_kill
@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npy", ".npz", ".csv.gz", ".txt"])
def test_a_process_killed_while_saving_leaves_the_old_files_unchanged(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    random_embedding().save(path)
    before = directory_contents(path.parent)
    finished = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert finished.returncode == -signal.SIGKILL
    assert directory_contents(path.parent).items() >= before.items()
    assert same_embedding(hopvec.load(path), random_embedding(), path)


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
def test_ids_are_never_left_with_the_vectors_of_another_run(tmp_path, number):
    path = tmp_path / "vectors.npy"
    random_embedding().save(path)
    finished = subprocess.run(
        [sys.executable, "-c", KILLED_BETWEEN, str(path), str(number)], check=False
    )
    assert finished.returncode == -signal.SIGKILL
    if number == 1:
        assert same_embedding(hopvec.load(path), random_embedding(), path)
    else:
        with pytest.raises(FormatError, match="there is no such file"):
            hopvec.load(path)
    random_embedding(seed=2).save(path)
    assert same_embedding(hopvec.load(path), random_embedding(seed=2), path)


def test_backup_files_of_a_killed_process_are_deleted_by_the_next_save(tmp_path):
    path, backup = tmp_path / "vectors.npy", tmp_path / ".vectors.npy.1234.old"
    backup.write_bytes(b"old")
    random_embedding().save(path)
    assert not backup.exists()


def test_concurrent_writes_to_one_path_use_different_files(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as (first,), atomic_write(path) as (second,):
        assert first.name != second.name


def test_a_missing_directory_is_named(tmp_path):
    directory = tmp_path / "nodir"
    with pytest.raises(FormatError) as error:
        random_embedding().save(directory / "x.parquet")
    assert str(error.value) == (
        f"{directory / 'x.parquet'}: the directory {directory} does not exist. Create it first."
    )


def test_equal_vectors_are_equal_npz_files_at_any_time(tmp_path):
    random_embedding().save(tmp_path / "vectors.npz")
    with zipfile.ZipFile(tmp_path / "vectors.npz") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
