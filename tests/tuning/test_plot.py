"""The plot of a search."""

import sys

import numpy as np
import pytest

from hopvec import MissingExtraError, ParameterError, tune
from hopvec.tuning.plot import _figure
from one_pass import one_pass
from planted_partition import planted_partition

GRAPH, LABELS = planted_partition()
SPACES = {
    "the paper's": {"beta": "-1:0", "weights": "0,0,1,log:0.125:64"},
    "one range": {"beta": "-1:1"},
    "choices": {"normalize": "authors,full", "sparsity": ["sqrt", 3]},
    "many": {"beta": "-1:1", "weights": "0:1,0:1,1,log:0.125:64", "normalize": "authors,full"},
}


def search(space, trials=4):
    method = one_pass(dim=8, seed=1)
    return tune(GRAPH, LABELS, method=method, space=space, trials=trials, shuffles=1)


@pytest.mark.parametrize("name", SPACES)
def test_it_has_a_panel_with_all_trials_for_each_dimension(name):
    tuning = search(SPACES[name])
    panels = {axes.get_xlabel(): axes for axes in _figure(tuning).axes if axes.get_visible()}
    assert {"trial", *tuning.dimensions} <= set(panels)
    for dimension in tuning.dimensions:
        points = panels[dimension].collections[0].get_offsets()
        assert len(points) == len(tuning.trials)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_it_is_written_in_the_format_of_its_suffix(tmp_path, suffix):
    path = tmp_path / f"search{suffix}"
    search(SPACES["the paper's"]).plot(path)
    begins = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert path.read_bytes().startswith(begins[suffix])


def test_it_is_not_blank(tmp_path):
    from matplotlib.image import imread

    search(SPACES["the paper's"]).plot(tmp_path / "search.png")
    picture = imread(tmp_path / "search.png")
    assert min(picture.shape[:2]) > 500
    ink = (picture[:, :, :3] < 0.9).any(axis=2)
    assert 0.005 < ink.mean() < 0.5
    for half in np.array_split(ink, 2, axis=1):  # panels on both sides
        assert half.any()


def test_a_single_trial_can_be_plotted(tmp_path):
    search(SPACES["one range"], trials=1).plot(tmp_path / "search.png")
    assert (tmp_path / "search.png").exists()


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(
        ParameterError, match=r"the suffix of a plot must be one of \.png, \.svg, \.pdf"
    ):
        search(SPACES["one range"], trials=1).plot(tmp_path / "search.txt")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    tuning = search(SPACES["one range"], trials=1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hopvec\[tune\]'"):
        tuning.plot(tmp_path / "search.png")
