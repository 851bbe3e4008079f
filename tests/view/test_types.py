"""Maps and the explorer show types of nodes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import hopvec
from clustered_embedding import clustered_embedding
from hopvec import Labels, ParameterError
from hopvec.cli.explore import read_extra_columns
from hopvec.view import draw_map
from hopvec.view.classes import classes_of
from hopvec.view.explorer import Exploration

SMALL = {"kind": "pca", "size": 3.0, "dpi": 80}


@pytest.fixture
def embedding():
    plain, _ = clustered_embedding(200)
    return replace(plain, types=[*["user"] * 60, *["item"] * 120, *[None] * 20])


class TestMap:
    def test_only_nodes_of_the_types_are_drawn(self, embedding):
        assert repr(draw_map(embedding, types="user", **SMALL)) == "Map(60 nodes)"
        assert repr(draw_map(embedding, types=["user", "item"], **SMALL)) == "Map(180 nodes)"
        assert repr(draw_map(embedding, **SMALL)) == "Map(200 nodes)"

    def test_types_limit_classes(self, embedding):
        ids = embedding.ids.to_pylist()
        labels = Labels.from_pairs(ids, ["a", "b"] * 100)
        drawn = draw_map(embedding, labels=labels, classes=["a"], types="user", **SMALL)
        assert repr(drawn) == "Map(30 nodes)"

    def test_positions_are_those_of_the_drawn_nodes(self, embedding):
        positions = np.random.default_rng(0).random((200, 2), np.float32)
        drawn = draw_map(embedding, types="item", positions=positions, **SMALL)
        assert np.array_equal(drawn._panels[0].positions, positions[60:180])

    def test_without_labels_types_are_the_classes_the_largest_first(self, embedding):
        found = classes_of(embedding, None)
        assert found.names == ("item", "user")
        assert found.codes.tolist() == [1] * 60 + [0] * 120 + [-1] * 20
        labels = Labels.from_pairs(embedding.ids, ["a"] * 200)
        assert classes_of(embedding, labels).names == ("a",)

    def test_an_unknown_type_is_refused(self, embedding):
        with pytest.raises(ParameterError, match="no type 'x'; the types are item, user"):
            draw_map(embedding, types="x", **SMALL)


class TestExplorer:
    def test_nodes_are_colored_by_type_by_itself(self, embedding):
        exploration = Exploration.from_embeddings({"a": embedding}, layout="pca")
        about = exploration._about()
        assert about["columns"] == ["type"]
        assert about["labeled"] == "type"
        assert exploration._columns[0].legend()["classes"] == ["item", "user"]
        assert exploration._card(0)["label"] == "user"
        assert exploration._card(199)["label"] is None

    def test_labels_come_first_if_they_are_given(self, embedding):
        labels = Labels.from_pairs(embedding.ids, ["a"] * 200)
        exploration = Exploration.from_embeddings({"a": embedding}, labels=labels, layout="pca")
        assert exploration._about()["columns"] == ["label", "type"]
        assert exploration._card(0)["label"] == "a"

    def test_the_column_of_a_file_is_shown_once(self, embedding, tmp_path):
        embedding.save(tmp_path / "vectors.parquet")
        extra = read_extra_columns(tmp_path / "vectors.parquet")
        loaded = hopvec.load(tmp_path / "vectors.parquet")
        exploration = Exploration.from_embeddings(
            {"a": loaded}, columns=extra.columns | {"x": pa.array([1.5] * 200)}, layout="pca"
        )
        assert exploration._about()["columns"] == ["type", "x"]
