"""What every format for embeddings must do, run over the table of formats."""

import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import hopvec
from hopvec import Embedding, FastRP, FormatError, Graph
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.formats import npy as npy_format

SUFFIXES = sorted(EMBEDDING_FORMATS)
IDS = {
    "strings": pa.array(["b", "", "é", "日本", "a\nb", "a\0b", "🙂", "x" * 300], pa.large_string()),
    "integers": pa.array([5, -3, 0, 2**63 - 1, -(2**63), 7, 8, 9]),
}


def made(ids=IDS["strings"], seed=0):
    vectors = np.random.default_rng(seed).standard_normal((len(ids), 5)).astype(np.float32)
    parameters = {
        "method": "FastRP",
        "weights": [0.0, 1.5],
        "memory": None,
        "seed": seed,
        "é": "日",
    }
    return Embedding(
        vectors, ids, parameters, {"nodes": len(ids), "volume": 2.5, "directed": False}
    )


def same(one, other):
    return (
        one.vectors.tobytes() == other.vectors.tobytes()
        and one.ids.equals(other.ids)
        and one.parameters == other.parameters
        and one.graph == other.graph
    )


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"vectors{request.param}"


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_what_is_saved_is_loaded_parameters_and_all(path, ids):
    embedding = made(ids)
    embedding.save(path)
    for loaded in (hopvec.load(path), Embedding.load(str(path))):
        assert same(loaded, embedding)
        assert loaded.vectors.dtype == np.float32
        assert loaded.vectors.flags.c_contiguous


def test_a_loaded_embedding_works_like_the_one_saved(path):
    embedding = made()
    embedding.save(path)
    loaded = hopvec.load(path)
    assert loaded.nearest("é", 3) == embedding.nearest("é", 3)
    assert (loaded["日本"] == embedding["日本"]).all()
    with pytest.raises(ValueError, match="read-only"):
        loaded.vectors[0, 0] = 1


def test_saving_over_the_file_it_was_loaded_from_keeps_the_vectors(path):
    embedding = made()
    embedding.save(path)
    loaded = hopvec.load(path)
    loaded.save(path)
    assert same(loaded, embedding)
    assert same(hopvec.load(path), embedding)


def test_an_embedding_of_a_run_keeps_how_it_was_made(path):
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    embedding = FastRP(dim=4, weights=(1, 2), seed=3).embed(graph)
    embedding.save(path)
    loaded = hopvec.load(path)
    assert loaded.graph == graph.describe()
    assert loaded.parameters == embedding.parameters | {"weights": [1, 2]}  # JSON has no tuples


def test_parameters_given_as_numpy_numbers_are_saved(path):
    graph = Graph.from_edges([0, 1], [1, 2])
    method = FastRP(
        dim=np.int64(4), weights=np.array([0, 1.5]), beta=np.float32(0.5), seed=np.uint64(2**64 - 1)
    )
    method.embed(graph).save(path)
    kept = hopvec.load(path).parameters
    assert (kept["dim"], kept["weights"], kept["beta"]) == (4, [0, 1.5], 0.5)
    assert kept["seed"] == 2**64 - 1


def test_nothing_else_is_left_in_the_folder(path):
    made().save(path)
    names = {file.name for file in path.parent.iterdir()}
    made(seed=1).save(path)
    assert {file.name for file in path.parent.iterdir()} == names
    assert not any(name.startswith(".") or name.endswith(".part") for name in names)


def test_embeddings_of_names_with_dots_stay_apart(path):
    one, other = (path.with_name(f"run.{number}{path.suffix}") for number in (1, 2))
    made(seed=1).save(one)
    made(seed=2).save(other)
    assert same(hopvec.load(one), made(seed=1))
    assert same(hopvec.load(other), made(seed=2))


def test_a_file_that_is_not_there_is_said_so(path):
    with pytest.raises(FormatError) as error:
        hopvec.load(path)
    assert str(error.value) == f"{path}: there is no such file."


@pytest.mark.parametrize("name", ["vectors.txt", "vectors", "vectors.npy.gz"])
def test_an_unknown_suffix_is_refused_with_those_known(tmp_path, name):
    place = tmp_path / name
    place.write_bytes(b"")
    for act in (lambda: made().save(place), lambda: hopvec.load(place)):
        with pytest.raises(FormatError) as error:
            act()
        assert str(error.value) == (
            f"{place}: the suffix {place.suffix!r} names no format for embeddings; "
            f"use one of {', '.join(EMBEDDING_FORMATS)}."
        )


@pytest.mark.parametrize("parent", ["missing", "file"])
def test_a_folder_that_cannot_be_written_to_is_said_so(path, parent):
    (path.parent / "file").write_bytes(b"")
    place = path.parent / parent / path.name
    with pytest.raises(FormatError, match=r"cannot be written \(") as error:
        made().save(place)
    assert str(error.value).startswith(f"{place}: ")
    assert files_of(path.parent) == {"file": b""}


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_said_so(path):
    path.parent.chmod(0o500)
    with pytest.raises(FormatError, match=r"cannot be written \(Permission denied\)"):
        made().save(path)


def test_a_folder_of_that_name_is_left_alone(path):
    path.mkdir()
    with pytest.raises(FormatError, match=r"cannot be written \("):
        made().save(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def damaged(data):
    """The file cut short at many places, and with single bytes changed."""
    for cut in range(0, len(data), max(1, len(data) // 60)):
        yield data[:cut]
    for place in range(0, len(data), max(1, len(data) // 300)):
        yield data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
    yield b"rubbish"
    yield b"\x93NUMPY" + bytes(100)
    yield b"PK\x03\x04" + bytes(100)
    yield b"ARROW1\0\0" + bytes(100)


def test_a_damaged_file_is_refused_in_a_sentence_or_read_whole(path):
    embedding = made()
    embedding.save(path)
    refused = 0
    for file, data in files_of(path.parent).items():
        for wrong in damaged(data):
            (path.parent / file).write_bytes(wrong)
            try:
                loaded = hopvec.load(path)
            except FormatError as error:
                refused += 1
                assert str(error).startswith(f"{path}: ")  # noqa: PT017
            else:
                assert len(loaded) == len(loaded.vectors)
        (path.parent / file).write_bytes(data)
    assert refused > 100
    assert same(hopvec.load(path), embedding)


def test_every_truncated_file_is_refused(path):
    made().save(path)
    for file, data in files_of(path.parent).items():
        for cut in range(0, len(data), max(1, len(data) // 100)):
            (path.parent / file).write_bytes(data[:cut])
            with pytest.raises(FormatError):
                hopvec.load(path)
        (path.parent / file).write_bytes(data)


def test_vectors_without_their_file_of_ids_are_refused(tmp_path):
    path = tmp_path / "vectors.npy"
    made().save(path)
    (tmp_path / "vectors.ids.arrow").unlink()
    with pytest.raises(FormatError) as error:
        hopvec.load(path)
    assert (
        str(error.value) == f"{path}: the file with its ids, vectors.ids.arrow, is not beside it."
    )


def test_vectors_beside_the_ids_of_others_are_refused(tmp_path):
    made().save(tmp_path / "vectors.npy")
    np.save(tmp_path / "vectors.npy", np.zeros((3, 5), np.float32))
    with pytest.raises(FormatError, match=r"vectors.npy: 3 vectors but 8 ids beside them"):
        hopvec.load(tmp_path / "vectors.npy")


VECTORS = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    "arrays",
    [
        {"vectors": VECTORS},
        {"ids": np.arange(2)},
        {"vectors": VECTORS, "ids": np.arange(3)},
        {"vectors": VECTORS[0], "ids": np.arange(3)},
        {"vectors": np.float32(1), "ids": np.arange(3)},
        {"vectors": VECTORS, "ids": np.arange(2.0)},
        {"vectors": VECTORS, "ids": np.zeros((2, 1), int)},
        {"vectors": VECTORS, "ids": np.array([1, 2**63], np.uint64)},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": "no JSON"},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": "[1]"},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": '{"parameters": 3}'},
    ],
    ids=lambda arrays: "-".join(arrays),
)
def test_an_npz_that_is_no_embedding_is_refused(tmp_path, arrays):
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(FormatError, match=r"other.npz: not an embedding that hopvec wrote \("):
        hopvec.load(tmp_path / "other.npz")


def test_an_npz_of_pickled_objects_is_never_unpickled(tmp_path):
    np.savez(tmp_path / "other.npz", vectors=VECTORS, ids=np.array(["a", None], object))
    with pytest.raises(FormatError, match="not an embedding"):
        hopvec.load(tmp_path / "other.npz")


def test_an_npz_without_parameters_is_read(tmp_path):
    np.savez(tmp_path / "other.npz", vectors=VECTORS, ids=np.array(["a", "b"]))
    loaded = hopvec.load(tmp_path / "other.npz")
    assert loaded.ids.to_pylist() == ["a", "b"]
    assert loaded.parameters == loaded.graph == {}


def test_an_npz_refuses_ids_that_it_would_cut_short(tmp_path):
    embedding = made(pa.array(["a\0", "a"], pa.large_string()))
    with pytest.raises(FormatError, match=r"\.npz cannot hold ids that end in a null character"):
        embedding.save(tmp_path / "vectors.npz")
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize(
    "ids",
    [pa.array([1.0, 2.0]), pa.array([1, None]), pa.array([True, False]), pa.array([[1], [2]])],
)
def test_ids_of_other_kinds_beside_vectors_are_refused(tmp_path, ids):
    path = tmp_path / "vectors.npy"
    np.save(path, VECTORS)
    table = pa.table({"id": ids})
    with pa.ipc.new_file(str(npy_format.ids_path(path)), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(FormatError, match=r"ids must be int64 or strings without nulls"):
        hopvec.load(path)


def failing_on_call(number, function):
    """The function, but the call of that number finds the disk full."""
    calls = iter(range(1, 1000))

    def wrapped(*arguments):
        if next(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        return function(*arguments)

    return wrapped


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_full_disk_leaves_the_old_files_as_they_were(path, monkeypatch, function, number):
    made(seed=1).save(path)
    before = files_of(path.parent)
    monkeypatch.setattr(os, function, failing_on_call(number, getattr(os, function)))
    try:
        made(seed=2).save(path)
    except FormatError as error:
        assert str(error) == f"{path}: cannot be written (No space left on device)."  # noqa: PT017
        if function == "fsync" or number == 1:
            assert files_of(path.parent) == before
    else:
        assert number > len(before)
        assert same(hopvec.load(path), made(seed=2))
    assert not [name for name in files_of(path.parent) if name.endswith(".part")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_a_writer_that_fails_midway_leaves_the_old_files_as_they_were(path, monkeypatch, error):
    made(seed=1).save(path)
    before = files_of(path.parent)

    def write(file, *arrays, **more):
        file.write(b"half a file")
        raise error

    monkeypatch.setattr(np, "save", write)
    monkeypatch.setattr(np, "savez", write)
    with pytest.raises(error):
        made(seed=2).save(path)
    assert files_of(path.parent) == before


KILLED = """
import os, signal, sys
import numpy as np
import pyarrow as pa
import hopvec

def write(file, *arrays, **more):
    file.write(b"half a file")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

np.save = np.savez = write
hopvec.Embedding(np.zeros((2, 3), np.float32), pa.array([1, 2])).save(sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_process_killed_while_saving_leaves_the_old_files_as_they_were(path):
    made().save(path)
    before = files_of(path.parent)
    finished = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert finished.returncode == -signal.SIGKILL
    assert files_of(path.parent).items() >= before.items()
    assert same(hopvec.load(path), made())
