"""Contract tests: what every embedding format must do."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopvec
from hopvec import Embedding, FastRP, FormatError, Graph, ParameterError
from hopvec.formats import EMBEDDING_FORMATS, blocks, read_preview, text
from hopvec.formats.recognize import holds_embedding
from one_pass import one_pass
from saved_embeddings import (
    INTEGERS,
    SUFFIXES,
    UNTYPED_FORMATS,
    WHITESPACE_FORMATS,
    directory_contents,
    random_embedding,
    same_embedding,
    string_ids,
    suffix_of,
)

HALF = [".parquet", ".arrow", ".feather", ".npy", ".npz"]


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"vectors{request.param}"


@pytest.fixture
def small_blocks(monkeypatch):
    """Two rows of random_embedding() per block, one per chunk of text."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 40)
    monkeypatch.setattr(text, "LINE_BYTES", 20)


@pytest.mark.parametrize("kind", ["strings", "integers"])
@pytest.mark.parametrize("dim", [1, 5, 300])
@pytest.mark.parametrize("count", [1, 8])
def test_an_embedding_round_trips(path, kind, dim, count):
    ids = (string_ids(suffix_of(path)) if kind == "strings" else INTEGERS)[:count]
    embedding = random_embedding(ids, dim=dim)
    embedding.save(path)
    for loaded in (hopvec.load(path), Embedding.load(str(path))):
        assert same_embedding(loaded, embedding, path)
        assert loaded.vectors.dtype == np.float32
        assert loaded.vectors.flags.c_contiguous


@pytest.mark.parametrize("kind", ["strings", "integers"])
def test_an_embedding_of_many_blocks_round_trips(path, kind, small_blocks):
    embedding = random_embedding(string_ids(suffix_of(path)) if kind == "strings" else INTEGERS)
    embedding.save(path)
    assert same_embedding(hopvec.load(path), embedding, path)


def test_a_file_is_the_same_bytes_for_any_threads_and_memory(path):
    graph = Graph.from_edges(np.arange(50), (7 * np.arange(50) + 1) % 50)
    contents = []
    for options in ({}, {"threads": 1, "memory": "2GB"}, {"threads": 3, "memory": 40_000}):
        one_pass(dim=64, **options).embed(graph).save(path)
        contents.append(directory_contents(path.parent))
    assert contents[0] == contents[1] == contents[2]


def test_an_embedding_of_no_nodes_keeps_its_dim(path):
    random_embedding(INTEGERS[:0], dim=7).save(path)
    assert hopvec.load(path).vectors.shape == (0, 7)


def test_every_finite_float32_round_trips_bit_for_bit(path):
    bits = np.random.default_rng(1).integers(0, 2**32, (500, 16), dtype=np.uint32)
    vectors = bits.view(np.float32)
    vectors[~np.isfinite(vectors)] = 1e-45
    vectors[0, :3] = [-0.0, 3.4028235e38, 1.1754942e-38]
    Embedding(vectors, pa.array(np.arange(500))).save(path)
    assert hopvec.load(path).vectors.tobytes() == vectors.tobytes()


@pytest.mark.parametrize("suffix", sorted(set(SUFFIXES) - WHITESPACE_FORMATS))
@settings(max_examples=20)  # per format
@given(ids=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, unique=True))
def test_any_string_can_be_an_id(tmp_path_factory, suffix, ids):
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    if suffix == ".npz" and any(id.endswith("\0") for id in ids):
        return
    embedding = random_embedding(pa.array([*ids, "not an integer"], pa.large_string()), dim=1)
    embedding.save(path)
    assert hopvec.load(path).ids.to_pylist() == [*ids, "not an integer"]


@pytest.mark.parametrize("ids", [["007", "8"], ["+1", "2"], ["-0", "1"], ["1.0"], ["9" * 19]])
def test_ids_that_only_look_like_integers_stay_strings(path, ids):
    random_embedding(pa.array(ids, pa.large_string())).save(path)
    assert hopvec.load(path).ids.to_pylist() == ids


def test_strings_of_digits_stay_strings_if_the_format_has_types(path):
    random_embedding(pa.array(["7", "8"], pa.large_string())).save(path)
    assert hopvec.load(path).ids.to_pylist() == (
        [7, 8] if suffix_of(path) in UNTYPED_FORMATS else ["7", "8"]
    )


def test_a_loaded_embedding_works_like_the_one_saved(path):
    embedding = random_embedding()
    embedding.save(path)
    loaded = hopvec.load(path)
    assert loaded.nearest("é", 3) == embedding.nearest("é", 3)
    assert (loaded["日本"] == embedding["日本"]).all()
    with pytest.raises(ValueError, match="read-only"):
        loaded.vectors[0, 0] = 1


def test_fortran_ordered_vectors_are_saved_by_rows(path):
    embedding = random_embedding()
    Embedding(np.asfortranarray(embedding.vectors), embedding.ids).save(path)
    assert hopvec.load(path).vectors.tobytes() == embedding.vectors.tobytes()


def test_saving_over_the_file_it_was_loaded_from_keeps_the_vectors(path):
    embedding = random_embedding()
    embedding.save(path)
    loaded = hopvec.load(path)
    loaded.save(path)
    assert same_embedding(loaded, embedding, path)
    assert same_embedding(hopvec.load(path), embedding, path)


@pytest.mark.parametrize("suffix", sorted(set(SUFFIXES) - UNTYPED_FORMATS))
def test_parameters_and_graph_are_saved(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    embedding = FastRP(dim=4, weights=(1, 2), seed=3).embed(graph)
    embedding.save(path)
    loaded = hopvec.load(path)
    assert loaded.graph == graph.describe()
    assert loaded.parameters == embedding.parameters | {"weights": [1, 2]}  # JSON has no tuples


@pytest.mark.parametrize("suffix", sorted(set(SUFFIXES) - UNTYPED_FORMATS))
def test_parameters_given_as_numpy_numbers_are_saved(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    graph = Graph.from_edges([0, 1], [1, 2])
    method = FastRP(
        dim=np.int64(4), weights=np.array([0, 1.5]), beta=np.float32(0.5), seed=np.uint64(2**64 - 1)
    )
    method.embed(graph).save(path)
    loaded = hopvec.load(path).parameters
    assert (loaded["dim"], loaded["weights"], loaded["beta"]) == (4, [0, 1.5], 0.5)
    assert loaded["seed"] == 2**64 - 1


@pytest.mark.parametrize("suffix", HALF)
def test_float16_halves_the_file_and_is_loaded_as_float32(tmp_path, suffix):
    embedding = random_embedding(pa.array(np.arange(2000)), dim=64)
    embedding.save(tmp_path / f"whole{suffix}")
    embedding.save(tmp_path / f"half{suffix}", dtype="float16")
    loaded = hopvec.load(tmp_path / f"half{suffix}")
    assert loaded.vectors.dtype == np.float32
    expected = embedding.vectors.astype(np.float16).astype(np.float32)
    assert loaded.vectors.tobytes() == expected.tobytes()
    assert loaded.parameters == embedding.parameters
    sizes = [(tmp_path / f"{name}{suffix}").stat().st_size for name in ("whole", "half")]
    assert 0.45 < sizes[1] / sizes[0] < 0.55


@pytest.mark.parametrize("suffix", sorted(set(SUFFIXES) - set(HALF)))
def test_float16_is_refused_by_formats_without_it(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    with pytest.raises(FormatError) as error:
        random_embedding().save(path, dtype="float16")
    assert str(error.value) == (
        f"{path}: a {suffix} file cannot hold float16; use one of {', '.join(HALF)}."
    )
    assert directory_contents(tmp_path) == {}


@pytest.mark.parametrize("suffix", HALF)
def test_numbers_too_large_for_float16_are_refused_with_their_id(tmp_path, suffix):
    vectors = np.array([[1, 2], [1, 70000]], np.float32)
    embedding = Embedding(vectors, pa.array(["a", "b"]))
    with pytest.raises(FormatError, match=r"of 'b' contains 70000, .* float16 \(at most 65504\)"):
        embedding.save(tmp_path / f"vectors{suffix}", dtype="float16")
    assert directory_contents(tmp_path) == {}


def test_an_unknown_dtype_is_refused(path):
    with pytest.raises(ParameterError) as error:
        random_embedding().save(path, dtype="float64")
    assert str(error.value) == "save: dtype must be one of float32, float16, got 'float64'."


@pytest.mark.parametrize("suffix", HALF)
def test_a_file_is_recognized_by_its_first_bytes(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    random_embedding().save(path)
    path = path.rename(tmp_path / "vectors.csv")
    assert same_embedding(hopvec.load(path), random_embedding(), tmp_path / "any.parquet")


def test_the_case_of_a_suffix_does_not_matter(path):
    other = path.with_name(path.name.upper())
    random_embedding().save(other)
    assert hopvec.load(other).ids.equals(random_embedding().ids)


def test_no_other_files_are_left_in_the_directory(path):
    random_embedding().save(path)
    names = {file.name for file in path.parent.iterdir()}
    random_embedding(seed=1).save(path)
    assert {file.name for file in path.parent.iterdir()} == names
    assert not any(name.startswith(".") or name.endswith(".part") for name in names)


def test_the_same_embedding_is_saved_as_the_same_bytes(path):
    random_embedding().save(path)
    before = directory_contents(path.parent)
    random_embedding().save(path)
    assert directory_contents(path.parent) == before


def test_file_names_with_dots_do_not_collide(path):
    one, other = (path.with_name(f"run.{number}{suffix_of(path)}") for number in (1, 2))
    random_embedding(seed=1).save(one)
    random_embedding(seed=2).save(other)
    assert same_embedding(hopvec.load(one), random_embedding(seed=1), path)
    assert same_embedding(hopvec.load(other), random_embedding(seed=2), path)


def test_a_missing_file_is_reported(path):
    with pytest.raises(FormatError) as error:
        hopvec.load(path)
    assert str(error.value) == f"{path}: there is no such file."


@pytest.mark.parametrize("name", ["vectors.doc", "vectors", "vectors.npy.gz"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"")
    for act in (lambda: random_embedding().save(path), lambda: hopvec.load(path)):
        with pytest.raises(FormatError) as error:
            act()
        assert str(error.value) == (
            f"{path}: {path.suffix!r} is not the suffix of an embedding format; "
            f"use one of {', '.join(EMBEDDING_FORMATS)}."
        )


@pytest.mark.parametrize("parent", ["missing", "file"])
def test_a_missing_directory_is_reported(path, parent):
    (path.parent / "file").write_bytes(b"")
    target = path.parent / parent / path.name
    with pytest.raises(FormatError) as error:
        random_embedding().save(target)
    assert str(error.value) == (
        f"{target}: the directory {target.parent} does not exist. Create it first."
    )
    assert directory_contents(path.parent) == {"file": b""}


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_reported(path):
    path.parent.chmod(0o500)
    with pytest.raises(FormatError, match=r"cannot be written \(Permission denied\)"):
        random_embedding().save(path)


def test_a_directory_of_that_name_is_not_replaced(path):
    path.mkdir()
    with pytest.raises(FormatError, match=r"cannot be written \("):
        random_embedding().save(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_an_npz_refuses_ids_that_it_would_truncate(tmp_path):
    embedding = random_embedding(pa.array(["a\0", "a"], pa.large_string()))
    with pytest.raises(FormatError, match=r"\.npz cannot hold ids that end in a null character"):
        embedding.save(tmp_path / "vectors.npz")
    assert directory_contents(tmp_path) == {}


def test_a_directory_of_parquet_files_written_by_spark_is_read_as_one_file(tmp_path):
    embedding = random_embedding(INTEGERS[:8], dim=5)
    directory = tmp_path / "vectors"
    directory.mkdir()
    kind = pa.schema([("id", pa.int64()), ("embedding", pa.list_(pa.float32()))])
    for part, rows in enumerate((slice(0, 0), slice(0, 3), slice(3, 8))):
        columns = {"id": embedding.ids[rows], "embedding": embedding.vectors[rows].tolist()}
        pq.write_table(pa.table(columns).cast(kind), directory / f"part-{part:05}.snappy.parquet")
    (directory / "_SUCCESS").touch()
    loaded = hopvec.load(directory)
    assert loaded.ids.to_pylist() == embedding.ids.to_pylist()
    np.testing.assert_array_equal(loaded.vectors, embedding.vectors)
    preview = read_preview(directory)
    assert (len(preview.embedding), preview.rows) == (3, 8)
    assert holds_embedding(directory)


def test_a_directory_without_parquet_files_is_refused(tmp_path):
    assert not holds_embedding(tmp_path)
    with pytest.raises(FormatError, match="there is no Parquet file in this directory"):
        hopvec.load(tmp_path)
