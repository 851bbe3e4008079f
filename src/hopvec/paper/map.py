"""Figure 1: t-SNE maps of the nodes of five classes, by FastRP, DeepWalk and RandNE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.report import DPI, ReportFigure, ReportTable, Section, Verdict
from hopvec.paper.settings import is_large, method, weakened
from hopvec.view import layout, purity
from hopvec.view.classes import classes_of
from hopvec.view.figure import Panel, draw_figure
from hopvec.view.theme import THEMES

COMPARED = ("FastRP", "DeepWalk", "RandNE")
COUNTRIES = ("uk", "jp", "br", "fr", "es")
CLASSES: dict[str, tuple[str, ...]] = {  # five of each dataset
    "www-200k": COUNTRIES,
    "www-10k": COUNTRIES,
    "debian-packages": ("perl", "haskell", "rust", "golang", "javascript"),
    "wikispeedia": ("Science", "Geography", "People", "History", "Everyday_life"),
    "eurosis": ("Belgium", "Estonia", "France", "Poland", "Italy"),
}
MAX_NODES = 5_000  # on a map
SIZE = 4.2  # inches
NOISE = 0.02  # differences of purity that may be chance


def reproduce(cache: ExperimentCache) -> Section:
    """Draw the nodes of five classes by three methods, and measure the purity of the maps."""
    names = [
        name for name in cache.available(*CLASSES) if not cache.quick or not is_large(cache, name)
    ]
    figures: list[ReportFigure] = []
    rows: list[tuple[str, float, float, float]] = []
    for name in names:
        picture, (fastrp, deepwalk, randne) = _maps(cache, name)
        figures.append(picture)
        rows.append((name, fastrp, deepwalk, randne))
    return Section(
        name="map",
        title="Maps by t-SNE, five classes",
        text=[
            f"Up to {MAX_NODES:,} nodes that belong to one of five classes, laid out by t-SNE from "
            "their 15 nearest neighbors by cosine, starting at the first two principal components. "
            "Purity: the mean share of a node's 10 nearest nodes on the map that are in its class."
        ],
        verdicts=[_verdict(*row, weakened(cache, row[0], *COMPARED)) for row in rows],
        tables=[ReportTable("map", "Purity of the maps", ["dataset", *COMPARED], rows)]
        if rows
        else [],
        figures=figures,
        missing=cache.missing(*CLASSES),
    )


def _maps(cache: ExperimentCache, name: str) -> tuple[ReportFigure, list[float]]:
    labels = cache.labels(name)
    panels, purities = [], []
    for label in COMPARED:
        embedding = cache.embedding(name, method(cache, name, label))
        rows = _rows(cache, name, embedding)
        some = Embedding(embedding.vectors[rows], embedding.ids.take(pa.array(rows)))
        with cache.stage(f"{name}: map of {label}") as progress:
            plane = layout(some, progress=progress)
        purities.append(purity(plane, some, labels).nodes)
        classes = classes_of(some, labels, CLASSES[name])
        panels.append(Panel(f"{label}, purity {purities[-1]:.2f}", plane, classes))
    figure = draw_figure(panels, THEMES["light"], title=None, size=SIZE, dpi=DPI, seed=0)
    title = f"{name}: nodes of five classes by three methods."
    return ReportFigure(f"map-{name}", title, figure, f"Three t-SNE maps of {name}."), purities


def _rows(cache: ExperimentCache, name: str, embedding: Embedding) -> NDArray[np.int64]:
    """The rows of nodes in exactly one of the five classes with a nonzero vector; a sample."""
    found = cache.labels(name).align(embedding)
    columns = [found.classes.index(class_) for class_ in CLASSES[name]]
    drawn = embedding.vectors[found.rows].any(axis=1)
    one = found.rows[(found.members[:, columns].sum(axis=1) == 1) & drawn]
    return np.sort(np.random.default_rng(0).permutation(one)[:MAX_NODES])


def _verdict(
    name: str, fastrp: float, deepwalk: float, randne: float, unsupported: str = ""
) -> Verdict:
    return Verdict(
        f"{name}: FastRP separates the classes as well as DeepWalk, and better than RandNE.",
        f"Purity {fastrp:.2f}, {deepwalk:.2f} and {randne:.2f}."
        + (unsupported and f" {unsupported}"),
        None if unsupported else fastrp >= deepwalk - NOISE and fastrp > randne + NOISE,
    )
