"""word2vec files, as gensim and word2vec itself read and write them."""

import numpy as np
import pyarrow as pa
import pytest
from gensim.models import KeyedVectors

import hopvec
from hopvec import FormatError
from saved_embeddings import directory_contents, random_embedding

WORDS = pa.array(["b", "007", "é", "日本", "🙂", "x" * 300, '"hi"', "a,b;c"], pa.large_string())


@pytest.fixture(params=[".txt", ".vec", ".bin"])
def path(request, tmp_path):
    return tmp_path / f"vectors{request.param}"


def test_gensim_reads_a_saved_embedding(path):
    embedding = random_embedding(WORDS, dim=20)
    embedding.save(path)
    read = KeyedVectors.load_word2vec_format(str(path), binary=path.suffix == ".bin")
    assert read.index_to_key == WORDS.to_pylist()
    assert read.vectors.tobytes() == embedding.vectors.tobytes()


def test_gensim_finds_the_same_neighbors(path):
    embedding = random_embedding(pa.array(np.arange(200)), dim=16)
    embedding.save(path)
    read = KeyedVectors.load_word2vec_format(str(path), binary=path.suffix == ".bin")
    found = [int(id) for id, _ in read.most_similar("7", topn=20)]
    assert found == [id for id, _ in embedding.nearest(7, 20)]


def test_a_file_written_by_gensim_is_read(path):
    embedding = random_embedding(WORDS, dim=20)
    other = KeyedVectors(20)
    other.add_vectors(WORDS.to_pylist(), embedding.vectors)
    other.save_word2vec_format(str(path), binary=path.suffix == ".bin")
    loaded = hopvec.load(path)
    assert loaded.ids.equals(WORDS)
    assert loaded.vectors.tobytes() == embedding.vectors.tobytes()


def test_trailing_spaces_of_word2vec_text_files_are_ignored(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("2 2\nx 1.5 -2.000000 \ny 3 4 \n")
    loaded = hopvec.load(path)
    assert loaded.ids.to_pylist() == ["x", "y"]
    assert loaded.vectors.tolist() == [[1.5, -2], [3, 4]]


def test_line_breaks_between_vectors_of_word2vec_binary_files_are_ignored(tmp_path):
    path = tmp_path / "vectors.bin"
    one, two = np.array([[1.5, -2], [3, 4]], "<f4")
    path.write_bytes(b"2 2\nx " + one.tobytes() + b"\ny " + two.tobytes() + b"\n")
    loaded = hopvec.load(path)
    assert loaded.ids.to_pylist() == ["x", "y"]
    assert loaded.vectors.tolist() == [[1.5, -2], [3, 4]]


@pytest.mark.parametrize(
    "id", ["two words", "tab\t", "line\n", "", "wide\u3000", "hard\u00a0space"]
)
def test_an_id_with_whitespace_is_refused_by_name(path, id):
    with pytest.raises(FormatError) as error:
        random_embedding(pa.array(["fine", id], pa.large_string())).save(path)
    assert str(error.value) == (
        f"{path}: word2vec files cannot hold the id {id!r}, since ids must not be empty or contain "
        "whitespace. Save as .parquet or .csv, or rename the node."
    )
    assert directory_contents(path.parent) == {}
