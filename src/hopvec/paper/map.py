"""Figure 1: t-SNE maps of FastRP, DeepWalk and RandNE, nodes of five classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.paper.draw import panels
from hopvec.paper.report import Picture, Section, Table, Verdict
from hopvec.paper.settings import method
from hopvec.paper.workshop import Workshop
from hopvec.view import layout

BESIDE = ("FastRP", "DeepWalk", "RandNE")
COUNTRIES = ("uk", "jp", "br", "fr", "es")
CLASSES = {  # five of each data set
    "www-200k": COUNTRIES,
    "www-10k": COUNTRIES,
    "debian-packages": ("perl", "haskell", "rust", "golang", "javascript"),
    "wikispeedia": ("Science", "Geography", "People", "History", "Everyday_life"),
    "eurosis": ("Belgium", "Estonia", "France", "Poland", "Italy"),
}
MOST = 5_000  # nodes on a map
PALETTE = ("#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#2f7d5b")
NOISE = 0.05  # of purity, by which maps of equal quality may differ
AROUND = 10  # neighbours on the map whose class is compared


def reproduce(workshop: Workshop) -> Section:
    """Maps of the nodes of five classes by three methods, and how pure their neighbourhoods are."""
    names = workshop.available(*CLASSES)
    names = [name for name in names if not workshop.quick or name != "debian-packages"]
    pictures: list[Picture] = []
    rows: list[tuple[str, float, float, float]] = []
    for name in names:
        picture, purities = _maps(workshop, name)
        pictures.append(picture)
        rows.append((name, *purities))
    return Section(
        name="map",
        title="Maps by t-SNE, five classes",
        text=[
            "Each node is pulled to its 15 nearest by cosine; the plane starts at the first two "
            f"principal components. Purity: the mean share of a node's {AROUND} nearest nodes on "
            "the map that are of its class."
        ],
        verdicts=[_verdict(*row) for row in rows],
        tables=[Table("map", "Purity of the maps", ["data set", *BESIDE], rows)] if rows else [],
        pictures=pictures,
        missing=workshop.missing(*CLASSES),
    )


def _maps(workshop: Workshop, name: str) -> tuple[Picture, tuple[float, float, float]]:
    embeddings = {
        label: workshop.embedding(name, method(workshop, name, label)) for label in BESIDE
    }
    rows, classes = _nodes(workshop, name, embeddings["FastRP"])
    figure, axes = panels(len(BESIDE), height=4.4)
    purities = []
    for axis, (label, embedding) in zip(axes, embeddings.items(), strict=True):
        some = Embedding(embedding.vectors[rows], embedding.ids.take(rows))
        with workshop.stage(f"{name}: map of {label}") as progress:
            plane = layout(some, progress=progress)
        purities.append(purity(plane, classes))
        for number, class_ in enumerate(CLASSES[name]):
            here = plane[classes == number]
            axis.scatter(*here.T, s=5, color=PALETTE[number], label=class_, linewidths=0, alpha=0.7)
        axis.set(title=f"{label}  (purity {purities[-1]:.2f})", xticks=[], yticks=[])
        axis.grid(visible=False)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, markerscale=3
    )
    title = f"{name}: nodes of five classes by three methods."
    return Picture(f"map-{name}", title, figure, f"Three t-SNE maps of {name}."), (
        purities[0],
        purities[1],
        purities[2],
    )


def _nodes(
    workshop: Workshop, name: str, embedding: Embedding
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of nodes with exactly one of the five classes, and which it is; a sample if many."""
    found = workshop.labels(name).align(embedding)
    columns = [found.classes.index(class_) for class_ in CLASSES[name]]
    member = found.members[:, columns]
    drawn = embedding.vectors[found.rows].any(axis=1)
    one = np.flatnonzero((member.sum(axis=1) == 1) & drawn)
    one = np.sort(np.random.default_rng(0).permutation(one)[:MOST])
    return found.rows[one], member[one].argmax(axis=1)


def purity(plane: NDArray[np.float32], classes: NDArray[np.int64]) -> float:
    """The mean share of a node's nearest nodes in the plane that are of its class."""
    from scipy.spatial import KDTree

    _, near = KDTree(plane).query(plane, k=AROUND + 1)
    return float((classes[near[:, 1:]] == classes[:, None]).mean())


def _verdict(name: str, fastrp: float, deepwalk: float, randne: float) -> Verdict:
    return Verdict.of(
        f"{name}: classes are as well separated by FastRP as by DeepWalk, and not by RandNE.",
        f"Purity {fastrp:.2f}, {deepwalk:.2f} and {randne:.2f}.",
        fastrp >= deepwalk - NOISE and fastrp > randne,
    )
