"""`hopvec map` and `hopvec layout`."""

import numpy as np
import pytest

import hopvec
from clustered_embedding import clustered_embedding
from hopvec.formats.positions import read_positions
from hopvec.view import draw_map, layout

QUICK = ("--layout", "pca", "--size", 3, "--dpi", 80)


@pytest.fixture
def files(tmp_path):
    """Files of vectors and of labels that match their clusters."""
    embedding, labels = clustered_embedding(200, isolated=9)
    embedding.save(tmp_path / "vectors.parquet")
    clustered_embedding(200, seed=1)[0].save(tmp_path / "other.npz")
    pairs = zip(labels.ids.to_pylist(), labels.matrix.indices, strict=True)
    lines = [f"{id_},{labels.classes[code]}" for id_, code in pairs]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *lines, ""]))
    return "vectors.parquet", "labels.csv"


class TestMap:
    def test_it_draws_the_same_map_as_the_library(self, run, files, tmp_path):
        result = run("map", *files, "-o", "map.svg", *QUICK, "--theme", "dark", "--title", "Ours")
        assert result.exit_code == 0, result.stderr
        assert "map.svg: 200 nodes" in result.stderr
        embedding = hopvec.load(tmp_path / "vectors.parquet")
        labels = hopvec.read_labels(tmp_path / "labels.csv")
        look = {"theme": "dark", "title": "Ours", "size": 3, "dpi": 80}
        draw_map(embedding, tmp_path / "same.svg", labels=labels, kind="pca", **look)
        assert (tmp_path / "map.svg").read_bytes() == (tmp_path / "same.svg").read_bytes()

    def test_without_labels_and_output(self, run, files, tmp_path):
        assert run("map", files[0], *QUICK).exit_code == 0
        assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")

    def test_control_characters_of_classes_are_escaped(self, run, files, tmp_path, recwarn):
        labels = tmp_path / files[1]
        labels.write_text(labels.read_text().replace("class a", "\x1b[31mred"))
        result = run("map", *files, "-o", "map.svg", *QUICK)
        assert result.exit_code == 0, result.stderr
        assert "Glyph" not in "".join(str(warning.message) for warning in recwarn)

    def test_several_embeddings_side_by_side_with_some_classes(self, run, files, tmp_path):
        pick = ("--classes", "class b,class a")
        result = run("map", files[0], "other.npz", files[1], "-o", "one.svg", *pick, *QUICK)
        assert result.exit_code == 0, result.stderr
        named = ("--labels", files[1])
        run("map", files[0], "other.npz", *named, "-o", "two.svg", *pick, *QUICK)
        one, two = (tmp_path / name for name in ("one.svg", "two.svg"))
        assert one.read_bytes() == two.read_bytes()

    def test_positions_of_the_file_are_used_and_reported(self, run, files, tmp_path):
        run("layout", files[0], "--layout", "pca")
        result = run("map", *files, "-o", "stored.svg", "--size", 3)
        assert "x and y of vectors.parquet" in result.stderr
        asked = run("map", *files, "-o", "asked.svg", "--size", 3, "--layout", "pca")
        assert "x and y" not in asked.stderr
        stored, same = (tmp_path / name for name in ("stored.svg", "asked.svg"))
        assert stored.read_bytes() == same.read_bytes()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("vectors.parquet", "-o", "map.gif"), "map.gif: a map must be one of .png, .svg"),
            (("vectors.parquet", "-o", "no/map.png"), "the directory no does not exist"),
            (("vectors.parquet", "-o", "."), "a map must be one of"),
            (("none.parquet",), "none.parquet: there is no such file"),
            (("vectors.parquet", "--classes", "a"), "--classes needs a file of labels; name it"),
            (("vectors.parquet", "labels.csv", "--classes", "x"), "There is no class 'x'"),
            (("vectors.parquet", "labels.csv", "--size", "0"), "size must be from 1 to 40"),
            (("vectors.parquet", "vectors.parquet", "labels.csv"), "is named twice"),
            (("labels.csv", "vectors.parquet"), "labels.csv"),
        ],
    )
    def test_user_errors_are_one_sentence_and_write_nothing(
        self, run, files, tmp_path, arguments, message
    ):
        before = sorted(path.name for path in tmp_path.iterdir())
        result = run("map", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == before


class TestLayout:
    def test_x_and_y_are_stored_with_the_vectors(self, run, files, tmp_path):
        before = hopvec.load(tmp_path / "vectors.parquet")
        result = run("layout", *files[:1], "--seed", 3, "--labels", files[1])
        assert result.exit_code == 0, result.stderr
        assert "vectors.parquet: positions of 200 nodes" in result.stderr
        after = hopvec.load(tmp_path / "vectors.parquet")
        assert after.vectors.tobytes() == before.vectors.tobytes()
        found = read_positions(tmp_path / "vectors.parquet")
        np.testing.assert_array_equal(found, layout(before, seed=3))
        assert np.isnan(found).sum() == 18

    def test_positions_can_be_written_to_another_file(self, run, files, tmp_path):
        before = (tmp_path / "vectors.parquet").read_bytes()
        result = run("layout", files[0], "--layout", "pca", "-o", "mapped.parquet")
        assert result.exit_code == 0, result.stderr
        assert (tmp_path / "vectors.parquet").read_bytes() == before
        assert read_positions(tmp_path / "mapped.parquet") is not None

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("other.npz",), "positions can be stored in .parquet and .arrow files only"),
            (("vectors.parquet", "-o", "mapped.arrow"), "must be a .parquet file"),
            (("vectors.parquet", "--id-column", "id"), "--id-column needs --labels"),
            (("none.parquet",), "there is no such file"),
        ],
    )
    def test_user_errors(self, run, files, arguments, message):
        result = run("layout", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
