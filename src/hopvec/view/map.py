"""draw_map: a picture of one or several embeddings, with nodes colored by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import FormatError, MissingExtraError, ParameterError
from hopvec.formats.atomic import atomic_write
from hopvec.graph.node_types import type_mask
from hopvec.labels import Labels
from hopvec.progress import Progress, ProgressOption, callback, no_progress
from hopvec.view.classes import Classes, classes_of
from hopvec.view.figure import Panel, draw_figure
from hopvec.view.layout import Kind, layout
from hopvec.view.theme import PALETTE, THEMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
SIZES = 1.0, 40.0  # minimum and maximum side length, in inches
RESOLUTIONS = 30, 1200  # minimum and maximum, in pixels per inch
CSS_INCH = 96  # pixels of a web page per inch
# Removes the creation date from a file, so that the same map has the same bytes.
NO_DATE: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


@dataclass(frozen=True, eq=False, repr=False)
class Map:
    """A map, drawn by `draw_map`. A notebook shows it in the output of the cell.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, view
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> view.draw_map(FastRP(dim=8).embed(graph), kind="pca")
    Map(6 nodes)
    """

    _figure: Figure
    _panels: Sequence[Panel]
    _title: str | None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the map to a file; an existing file is replaced atomically.

        Parameters
        ----------
        path : path
            Output file: .png, .svg or .pdf.

        Raises
        ------
        FormatError
            If the suffix of the path is another one, or the file cannot be written.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, view
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> drawn = view.draw_map(FastRP(dim=8).embed(graph), kind="pca")
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     drawn.save(f"{folder}/map.svg")
        """
        path = Path(path)
        _check_suffix(path)
        with atomic_write(path) as (file,):
            self._write(file, path.suffix.lower())

    def _write(self, file: IO[bytes], suffix: str) -> None:
        with _settings():
            self._figure.savefig(
                file,
                format=suffix[1:],
                dpi=self._figure.dpi,
                facecolor=self._figure.get_facecolor(),
                metadata=NO_DATE[suffix],
            )

    def __repr__(self) -> str:
        return f"Map({self._sizes()})"

    def _sizes(self) -> str:
        return " and ".join(f"{len(panel.points):,} nodes" for panel in self._panels)

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """The picture in a notebook, with its width there and its description."""
        picture = BytesIO()
        self._write(picture, ".png")
        width = round(self._figure.get_size_inches()[0] * CSS_INCH)
        classes = ", ".join(self._panels[0].classes.names[: len(PALETTE)])
        described = f"A map of {self._sizes()}" + (f", colored by class: {classes}" * bool(classes))
        return picture.getvalue(), {"width": width, "alt": self._title or described}


def draw_map(
    embeddings: Embedding | Mapping[str, Embedding],
    path: str | PathLike[str] | None = None,
    *,
    labels: Labels | None = None,
    classes: Sequence[str] | None = None,
    types: str | Sequence[str] | None = None,
    positions: NDArray[np.float32] | Mapping[str, NDArray[np.float32]] | None = None,
    kind: Kind = "tsne",
    seed: int = 0,
    theme: str = "light",
    title: str | None = None,
    size: float = 7.0,
    dpi: int = 200,
    progress: ProgressOption = None,
) -> Map:
    """Draw a map of an embedding, or of several side by side.

    As the last line of a cell of a notebook, the map is shown below it. Nodes with zero vectors,
    such as isolated nodes, are drawn in a strip below the map. Above 100,000 nodes, the density of
    nodes is drawn. The same seed gives the same bytes.

    Parameters
    ----------
    embeddings : Embedding or mapping of str to Embedding
        The embeddings to draw; the names of a mapping are the titles of the panels.
    path : path, optional
        Output file: .png, .svg or .pdf. Without it, no file is written.
    labels : Labels, optional
        Colors nodes by class: the nine largest classes have colors, and the larger ones are named.
        Without labels, nodes are colored by type, if they have types.
    classes : sequence of str, optional
        Draws only nodes of these classes; colors are assigned in this order. Other nodes are left
        out of the layout as well.
    types : str or sequence of str, optional
        Draws only nodes of these types; other nodes are left out of the layout as well.
    positions : array of float32, shape (n, 2), or mapping of str to such arrays, optional
        Positions of the nodes; computed by `layout` if they are not given.
    kind : {"tsne", "pca"}, default="tsne"
        The layout algorithm.
    seed : int, default=0
        Random seed of the layout and of the drawing order.
    theme : {"light", "dark"}, default="light"
        The color theme.
    title : str, optional
        Title of the figure.
    size : float, default=7.0
        Side length of a panel in inches.
    dpi : int, default=200
        Resolution in pixels per inch.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of steps done and
        their total.

    Returns
    -------
    Map
        The map, which notebooks show.

    Raises
    ------
    ParameterError
        If a parameter is invalid.
    FormatError
        If the suffix of the path is another one, or the file cannot be written.
    MissingExtraError
        If the view extra is not installed.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, view
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     view.draw_map(embedding, f"{folder}/map.png", size=2, dpi=50)
    Map(6 nodes)
    """
    progress = callback(progress, "placing nodes")
    path = None if path is None else Path(path)
    check_map(path, theme=theme, size=size, dpi=dpi)
    if classes is not None:
        _check_classes(classes, labels)
    named = embeddings if isinstance(embeddings, Mapping) else {"": embeddings}
    given = positions if isinstance(positions, Mapping) else {"": positions}
    panels = []
    for number, (name, embedding) in enumerate(named.items()):
        report = _one_of_several(progress or no_progress, number, len(named))
        plane = given.get(name)
        if plane is not None and plane.shape != (len(embedding), 2):
            raise ParameterError(
                f"draw_map: positions must have the shape {(len(embedding), 2)}, got {plane.shape}."
            )
        found = classes_of(embedding, labels, classes)
        kept = np.ones(len(embedding), bool) if classes is None else found.codes >= 0
        if types is not None:
            kept &= type_mask("draw_map", embedding.types, types)
        if not kept.all():
            rows = np.flatnonzero(kept)
            embedding = Embedding(embedding.vectors[rows], embedding.ids.take(pa.array(rows)))
            found = Classes(found.names, found.codes[rows])
            plane = None if plane is None else plane[rows]
        if plane is None:
            labeled = np.flatnonzero(found.codes >= 0 if labels is not None else [])
            plane = layout(embedding, kind=kind, seed=seed, labeled=labeled, progress=report)
        report(1, 1)
        panels.append(Panel(name, plane, found))
    drawn = Map(_draw(panels, theme, title, size, dpi, seed), panels, title)
    if path is not None:
        drawn.save(path)
    return drawn


def check_map(
    path: Path | None, *, theme: str = "light", size: float = 7.0, dpi: int = 200
) -> None:
    """Raise an error unless a map with these settings can be drawn."""
    if path is not None:
        _check_suffix(path)
    if theme not in THEMES:
        raise ParameterError(f"draw_map: theme must be 'light' or 'dark', got {theme!r}.")
    for name, value, (low, high) in (("size", size, SIZES), ("dpi", dpi, RESOLUTIONS)):
        if not low <= value <= high:
            raise ParameterError(f"draw_map: {name} must be from {low:g} to {high:g}, got {value}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("map needs the view extra: pip install 'hopvec[view]'.") from error


def _check_classes(classes: Sequence[str], labels: Labels | None) -> None:
    if labels is None:
        raise ParameterError("draw_map: classes= needs labels=.")
    if isinstance(classes, str) or not classes or len(set(classes)) < len(classes):
        raise ParameterError(
            f"draw_map: classes must be a list of distinct names, got {classes!r}."
        )


def _one_of_several(progress: Progress, index: int, count: int) -> Progress:
    """Map the progress of one layout to that of all layouts."""
    steps = 1000

    def report(done: int, total: int) -> None:
        progress(index * steps + steps * done // max(1, total), count * steps)

    return report


def _draw(
    panels: Sequence[Panel],
    theme: str,
    title: str | None,
    size: float,
    dpi: int,
    seed: int,
) -> Figure:
    with _settings():
        return draw_figure(panels, THEMES[theme], title=title, size=size, dpi=dpi, seed=seed)


def _settings() -> AbstractContextManager[None]:
    """Settings of matplotlib that make a map the same everywhere."""
    import matplotlib

    found: AbstractContextManager[None] = matplotlib.rc_context(
        {"svg.hashsalt": "hopvec", "font.family": "DejaVu Sans"}
    )
    return found


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise FormatError(
            f"{path}: a map must be one of {', '.join(SUFFIXES)}, such as {path.stem or 'map'}.png."
        )
