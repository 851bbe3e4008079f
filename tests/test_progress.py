"""progress=: True shows a bar, a function is called, anything else is refused."""

import inspect
import sys

import pytest

import hopvec
from hopvec import FastRP, Graph, ParameterError, evaluate
from hopvec.progress import ProgressBar, callback

GRAPH = Graph.from_edges([(u, (7 * u + k) % 60) for u in range(60) for k in (1, 2, 3)])


@pytest.mark.parametrize("without_tqdm", [False, True])
def test_a_bar_is_drawn_and_removed(capsys, monkeypatch, without_tqdm):
    if without_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        monkeypatch.setenv("FORCE_COLOR", "1")
    else:
        pytest.importorskip("tqdm")
    bar = ProgressBar("embedding")
    bar(1, 4)
    bar(4, 4)
    assert bar._bar is None
    assert "embedding" in capsys.readouterr().err


def test_the_total_may_be_unknown(capsys):
    bar = ProgressBar("reading")
    bar(10, 0)
    bar(20, 0)
    assert bar._bar.n == 20
    bar._bar.close()


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_shown_without_it(progress, capfd):
    FastRP(dim=8).embed(GRAPH, progress=progress)
    assert capfd.readouterr() == ("", "")


def test_a_function_is_called():
    calls = []
    FastRP(dim=8).embed(GRAPH, progress=lambda *call: calls.append(call))
    assert calls
    assert calls[-1][0] == calls[-1][1]


def test_anything_else_is_refused():
    with pytest.raises(ParameterError, match="progress must be True, False or a function, got 3"):
        FastRP(dim=8).embed(GRAPH, progress=3)


def test_a_bar_does_not_change_the_result(capfd):
    shown = FastRP(dim=8).embed(GRAPH, progress=True)
    assert shown.vectors.tobytes() == FastRP(dim=8).embed(GRAPH).vectors.tobytes()
    held_out = evaluate.hold_out(GRAPH, progress=True)
    evaluate.predict_links(FastRP(dim=8).embed(held_out.training), held_out, progress=True)
    shown.nearest_all(3, progress=True)
    hopvec.recommend(shown, GRAPH, [0, 1], k=3, progress=True)
    capfd.readouterr()


def public_functions():
    for module in (hopvec, hopvec.evaluate, hopvec.datasets, hopvec.view):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                members = inspect.getmembers(value, inspect.isfunction)
                yield from ((f"{name}.{n}", f) for n, f in members if not n.startswith("_"))
            elif inspect.isfunction(value):
                yield name, value


TAKING = {
    name: function
    for name, function in public_functions()
    if "progress" in inspect.signature(function).parameters
}


@pytest.mark.parametrize("name", TAKING)
def test_every_function_that_reports_progress_takes_true(name):
    annotation = inspect.signature(TAKING[name]).parameters["progress"].annotation
    assert annotation == "ProgressOption"


def test_there_are_many_of_them():
    assert len(TAKING) > 15
    assert callback(None, "") is None
