"""Maps: colors, labels, isolated nodes, and user errors."""

import sys

import matplotlib
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from clustered_embedding import clustered_embedding
from hopvec import Embedding, FormatError, Labels, MissingExtraError, ParameterError
from hopvec.view import draw_map, figure
from hopvec.view.classes import classes_of
from hopvec.view.figure import GAP, STRIP, Panel, draw_figure
from hopvec.view.names import Box, label_anchor, place_labels
from hopvec.view.splat import splat
from hopvec.view.theme import PALETTE, THEMES

SMALL = {"kind": "pca", "size": 3.0, "dpi": 80}


def pixels(path, color):
    """The number of pixels of a picture that are close to a color."""
    return int((np.abs(imread(path)[:, :, :3] - to_rgb(color)).max(axis=2) < 0.12).sum())


def panel(embedding, labels, wanted=None, name=""):
    from hopvec.view import layout

    return Panel(name, layout(embedding, kind="pca"), classes_of(embedding, labels, wanted))


def figure_of(*panels, **settings):
    given = {"title": None, "size": 4.0, "dpi": 100, "seed": 0} | settings
    return draw_figure(panels, THEMES["light"], **given)


class TestMap:
    def test_it_is_shown_without_a_file_and_can_be_saved_later(self, tmp_path):
        embedding, labels = clustered_embedding(200)
        drawn = draw_map(embedding, labels=labels, **SMALL)
        assert repr(drawn) == "Map(200 nodes)"
        picture, shown = drawn._repr_png_()
        assert shown["alt"] == "A map of 200 nodes, colored by class: " + ", ".join(
            drawn._panels[0].classes.names
        )
        for name in ("map.png", "map.svg"):
            drawn.save(tmp_path / name)
            draw_map(embedding, tmp_path / f"again-{name}", labels=labels, **SMALL)
            assert (tmp_path / name).read_bytes() == (tmp_path / f"again-{name}").read_bytes()
        assert (tmp_path / "map.png").read_bytes() == picture
        with pytest.raises(FormatError, match=r"a map must be one of \.png, \.svg, \.pdf"):
            drawn.save(tmp_path / "map.gif")

    def test_a_title_describes_it(self):
        both = {"one": clustered_embedding(50)[0], "two": clustered_embedding(60)[0]}
        drawn = draw_map(both, title="Two maps", **SMALL)
        assert repr(drawn) == "Map(50 nodes and 60 nodes)"
        assert drawn._repr_png_()[1]["alt"] == "Two maps"


class TestPicture:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_every_class_is_drawn_in_its_color(self, tmp_path, theme):
        embedding, labels = clustered_embedding(600)
        draw_map(embedding, tmp_path / "map.png", labels=labels, theme=theme, **SMALL)
        for color in PALETTE[:4]:
            assert pixels(tmp_path / "map.png", color) > 150
        assert pixels(tmp_path / "map.png", PALETTE[5]) < 50
        assert pixels(tmp_path / "map.png", THEMES[theme].background) > 20_000

    def test_without_labels_all_have_one_color(self, tmp_path):
        draw_map(clustered_embedding(600)[0], tmp_path / "map.png", **SMALL)
        assert pixels(tmp_path / "map.png", PALETTE[0]) > 1000

    @pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
    def test_the_bytes_are_reproducible(self, tmp_path, suffix):
        embedding, labels = clustered_embedding(200, isolated=5)
        for name in ("one", "two"):
            draw_map(embedding, tmp_path / (name + suffix), labels=labels, title="é", **SMALL)
        one, two = ((tmp_path / (name + suffix)).read_bytes() for name in ("one", "two"))
        assert one == two
        assert one.startswith((b"\x89PNG", b"<?xml", b"%PDF"))

    def test_it_does_not_change_the_settings_of_matplotlib(self, tmp_path):
        before = dict(matplotlib.rcParams)
        draw_map(clustered_embedding(50)[0], tmp_path / "map.svg", **SMALL)
        assert dict(matplotlib.rcParams) == before

    def test_from_the_tenth_on_classes_are_gray(self, tmp_path):
        embedding, labels = clustered_embedding(900, classes=14)
        draw_map(embedding, tmp_path / "map.png", labels=labels, **SMALL)
        assert pixels(tmp_path / "map.png", THEMES["light"].other) > 100
        legend = figure_of(panel(embedding, labels)).legends[0]
        assert [text.get_text() for text in legend.get_texts()][-1].startswith("5 other")

    def test_nodes_without_a_label_are_in_the_legend(self):
        embedding, labels = clustered_embedding(100)
        some = Labels.from_pairs(labels.ids[:60], ["a"] * 60)
        legend = figure_of(panel(embedding, some)).legends[0]
        assert [text.get_text() for text in legend.get_texts()] == ["a  60", "no label  40"]

    def test_the_drawing_order_depends_on_the_seed(self):
        embedding, labels = clustered_embedding(100)
        orders = [
            figure_of(panel(embedding, labels), seed=seed).axes[0].collections[0].get_offsets()
            for seed in (0, 0, 1)
        ]
        assert orders[0].tolist() == orders[1].tolist() != orders[2].tolist()


class TestManyNodes:
    def test_the_density_of_many_nodes_is_drawn(self, monkeypatch):
        monkeypatch.setattr(figure, "SPLAT_FROM", 500)
        few, many = (figure_of(panel(*clustered_embedding(nodes))).axes[0] for nodes in (400, 600))
        assert (len(few.images), len(few.collections)) == (0, 1)
        assert (len(many.images), len(many.collections)) == (1, 0)

    def test_a_splat_shows_every_point_and_is_more_opaque_for_more_points(self):
        points = np.concatenate([np.full((1000, 2), 0.25), [[0.75, 0.75]]])
        colors = np.concatenate([np.tile([1.0, 0, 0], (1000, 1)), [[0, 0, 1.0]]])
        picture = splat(points, colors, (40, 40))
        many, one = picture[30, 10], picture[10, 30]  # the top row comes first
        np.testing.assert_allclose(many[:3], [1, 0, 0], atol=1e-3)
        np.testing.assert_allclose(one[:3], [0, 0, 1], atol=1e-3)
        assert many[3] > 2 * one[3] > 0.5
        assert picture[30, 30, 3] == 0

    def test_a_large_cloud_is_colored(self, tmp_path):
        rng = np.random.default_rng(0)
        positions = rng.standard_normal((150_000, 2)).astype(np.float32)
        embedding = Embedding(positions, pa.array(np.arange(150_000)))
        labels = Labels.from_pairs(embedding.ids, np.where(positions[:, 0] > 0, "right", "left"))
        draw_map(embedding, tmp_path / "map.png", labels=labels, positions=positions, **SMALL)
        assert min(pixels(tmp_path / "map.png", color) for color in PALETTE[:2]) > 800

    def test_no_points_make_an_empty_picture(self):
        assert not splat(np.empty((0, 2)), np.empty((0, 3)), (5, 5)).any()


class TestIsolatedNodes:
    def test_they_are_drawn_in_a_strip_with_a_caption(self):
        embedding, labels = clustered_embedding(300, isolated=40)
        drawn = panel(embedding, labels)
        strip = drawn.points[-40:]
        assert (strip[:, 1] < -GAP).all()
        assert (strip[:, 1] > -GAP - STRIP).all()
        assert drawn.points[:-40].min() >= 0
        assert len(np.unique(strip, axis=0)) == 40
        captions = [text.get_text() for text in figure_of(drawn).axes[0].texts]
        assert "40 nodes with zero vectors" in captions

    def test_without_isolated_nodes_there_is_no_strip(self):
        axes = figure_of(panel(*clustered_embedding(100))).axes[0]
        assert axes.get_ylim()[0] == 0
        assert not any("zero" in text.get_text() for text in axes.texts)

    def test_all_of_them_can_be_isolated(self, tmp_path):
        embedding, labels = clustered_embedding(30, isolated=30)
        draw_map(embedding, tmp_path / "map.png", labels=labels, **SMALL)
        assert (tmp_path / "map.png").exists()


class TestNames:
    def test_labels_do_not_overlap_and_stay_inside(self):
        rng = np.random.default_rng(0)
        anchors = [tuple(position) for position in rng.uniform(100, 300, (30, 2))]
        sizes = [(rng.uniform(20, 80), 12) for _ in anchors]
        frame = Box(0, 0, 400, 400)
        boxes = [box for box in place_labels(anchors, sizes, frame) if box]
        assert len(boxes) > 20
        assert all(box.inside(frame) for box in boxes)
        for number, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:number])

    def test_the_first_label_is_at_its_anchor_and_one_without_room_is_left_out(self):
        frame = Box(0, 0, 60, 24)
        first, second = place_labels([(30, 12)] * 2, [(50, 12)] * 2, frame)
        assert ((first.left + first.right) / 2, (first.bottom + first.top) / 2) == (30, 12)
        assert second is None

    def test_labels_do_not_overlap_on_a_map(self):
        figure = figure_of(panel(*clustered_embedding(2000, classes=9, dim=3)))
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        assert len(boxes) >= 8
        for number, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:number])

    def test_an_anchor_is_the_median_of_the_largest_cluster(self):
        rng = np.random.default_rng(0)
        many, few = rng.normal(0.2, 0.01, (300, 2)), rng.normal(0.8, 0.01, (100, 2))
        anchor = label_anchor(np.concatenate([many, few]))
        np.testing.assert_allclose(anchor.position, np.median(many, axis=0), atol=1e-6)
        assert anchor.share == 0.75


class TestSideBySide:
    def test_some_classes_with_several_methods(self, tmp_path):
        first, labels = clustered_embedding(400, classes=8)
        second, _ = clustered_embedding(400, classes=8, seed=1)
        wanted = [f"class {letter}" for letter in "gbace"]
        draw_map(
            {"FastRP": first, "RandNE": second, "other": first},
            tmp_path / "figure.png",
            labels=labels,
            classes=wanted,
            **SMALL,
        )
        height, width, _ = imread(tmp_path / "figure.png").shape
        assert width > 2 * height
        for color in PALETTE[:5]:
            assert pixels(tmp_path / "figure.png", color) > 100

    def test_only_nodes_of_the_given_classes_are_drawn(self):
        embedding, labels = clustered_embedding(200)
        found = classes_of(embedding, labels, ["class c", "class a"])
        assert found.names == ("class c", "class a")
        names = [labels.classes[code] for code in labels.matrix.indices]
        expected = [{"class c": 0, "class a": 1}.get(name, -1) for name in names]
        assert found.codes.tolist() == expected

    def test_a_node_in_several_classes_has_the_color_of_the_largest(self):
        embedding, _ = clustered_embedding(3)
        ids = ["node 0", "node 0", "node 1", "node 2"]
        labels = Labels.from_pairs(ids, ["small", "large", "large", "small"])
        labels = Labels.from_pairs([*ids, "node 1"], ["small", "large", "large", "large", "x"])
        assert classes_of(embedding, labels).names[0] == "large"
        assert classes_of(embedding, labels).codes.tolist() == [0, 0, 0]


class TestUserErrors:
    @pytest.mark.parametrize(
        ("settings", "kind", "message"),
        [
            ({"theme": "sepia"}, ParameterError, "theme must be 'light' or 'dark', got 'sepia'"),
            ({"size": 0}, ParameterError, "size must be from 1 to 40, got 0"),
            ({"dpi": 10}, ParameterError, "dpi must be from 30 to 1200, got 10"),
            ({"classes": ["x"]}, ParameterError, "classes= needs labels="),
            ({"positions": np.zeros((3, 2))}, ParameterError, r"must have the shape \(50, 2\)"),
            (
                {"path": "map.gif"},
                FormatError,
                r"a map must be one of .png, .svg, .pdf, such as map.png",
            ),
        ],
    )
    def test_they_are_one_sentence_and_nothing_is_written(self, tmp_path, settings, kind, message):
        path = tmp_path / settings.pop("path", "map.png")
        with pytest.raises(kind, match=message):
            draw_map(clustered_embedding(50)[0], path, **settings)
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_class(self, tmp_path):
        embedding, labels = clustered_embedding(50)
        with pytest.raises(ParameterError, match="no class 'class z' among the 4 classes: class a"):
            draw_map(embedding, tmp_path / "m.png", labels=labels, classes=["class z"])

    def test_without_matplotlib(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'hopvec\[view\]'"):
            draw_map(clustered_embedding(50)[0], tmp_path / "map.png")

    def test_a_failure_keeps_the_old_picture(self, tmp_path, monkeypatch):
        (tmp_path / "map.png").write_bytes(b"old")

        def fail(*given, **more):
            raise OSError("disk full")

        monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
        with pytest.raises(FormatError, match="disk full"):
            draw_map(clustered_embedding(50)[0], tmp_path / "map.png", **SMALL)
        assert [path.name for path in tmp_path.iterdir()] == ["map.png"]
        assert (tmp_path / "map.png").read_bytes() == b"old"
