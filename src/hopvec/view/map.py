"""Maps: pictures of embeddings, nodes colored by their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import FormatError, MissingExtraError, ParameterError
from hopvec.formats.atomic import atomic_write
from hopvec.labels import Labels
from hopvec.progress import Progress, no_progress
from hopvec.view.classes import Classes, classes_of
from hopvec.view.figure import Panel, draw_figure
from hopvec.view.layout import Kind, layout
from hopvec.view.theme import THEMES

SUFFIXES = (".png", ".svg", ".pdf")
SIZES = 1.0, 40.0  # inches of a side, from and to
RESOLUTIONS = 30, 1200  # dots per inch, from and to
# Without these, a file would tell the time it was made at.
TIMELESS = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def draw_map(
    embeddings: Embedding | Mapping[str, Embedding],
    path: str | PathLike[str],
    *,
    labels: Labels | None = None,
    classes: Sequence[str] | None = None,
    positions: NDArray[np.float32] | Mapping[str, NDArray[np.float32]] | None = None,
    kind: Kind = "tsne",
    seed: int = 0,
    theme: str = "light",
    title: str | None = None,
    size: float = 7.0,
    dpi: int = 200,
    progress: Progress | None = None,
) -> None:
    """Writes a picture of an embedding, or of several side by side: .png, .svg or .pdf.

    Nodes lie where `layout` puts them, or at `positions`; zero vectors, isolated nodes most of all,
    in a strip below. Of `labels`, the nine largest classes have colors, and the larger ones their
    names at the anchors of their clusters; `classes` picks classes, in the order of their colors,
    and then other nodes are left out, of the layout as well. That is Figure 1 of the paper:

        draw_map({"FastRP": fastrp, "DeepWalk": deepwalk, "RandNE": randne}, "figure.png",
                 labels=countries, classes=["uk", "jp", "br", "fr", "es"])

    Above 100,000 nodes their density is drawn. `size` is the side of a panel in inches, `theme`
    "light" or "dark". The same bytes for the same seed. `progress` is called with the parts of the
    layouts that are done and their number. Raises ParameterError, MissingExtraError, FormatError.
    """
    path = Path(path)
    check_map(path, theme=theme, size=size, dpi=dpi)
    if classes is not None:
        _check_classes(classes, labels)
    named = embeddings if isinstance(embeddings, Mapping) else {"": embeddings}
    given = positions if isinstance(positions, Mapping) else {"": positions}
    panels = []
    for number, (name, embedding) in enumerate(named.items()):
        tell = _of_several(progress or no_progress, number, len(named))
        plane = given.get(name)
        if plane is not None and plane.shape != (len(embedding), 2):
            raise ParameterError(
                f"draw_map: positions must have the shape {(len(embedding), 2)}, got {plane.shape}."
            )
        found = classes_of(embedding, labels, classes)
        if classes is not None:
            rows = np.flatnonzero(found.codes >= 0)
            embedding = Embedding(embedding.vectors[rows], embedding.ids.take(pa.array(rows)))
            found = Classes(found.names, found.codes[rows])
            plane = None if plane is None else plane[rows]
        if plane is None:
            labeled = np.flatnonzero(found.codes >= 0)
            plane = layout(embedding, kind=kind, seed=seed, labeled=labeled, progress=tell)
        tell(1, 1)
        panels.append(Panel(name, plane, found))
    _write(path, panels, theme, title, size, dpi, seed)


def check_map(path: Path, *, theme: str = "light", size: float = 7.0, dpi: int = 200) -> None:
    """Raises unless a map of that name, look and size can be drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise FormatError(
            f"{path}: a map is one of {', '.join(SUFFIXES)}, such as {path.stem or 'map'}.png."
        )
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
        raise ParameterError("draw_map: classes are picked from labels, and there are none.")
    if isinstance(classes, str) or not classes or len(set(classes)) < len(classes):
        raise ParameterError(
            f"draw_map: classes must be a list of different names, got {classes!r}."
        )


def _of_several(progress: Progress, number: int, of: int) -> Progress:
    """The progress of one layout, as part of all."""
    parts = 1000

    def tell(done: int, all_: int) -> None:
        progress(number * parts + parts * done // max(1, all_), of * parts)

    return tell


def _write(
    path: Path,
    panels: Sequence[Panel],
    theme: str,
    title: str | None,
    size: float,
    dpi: int,
    seed: int,
) -> None:
    import matplotlib

    suffix = path.suffix.lower()
    with matplotlib.rc_context({"svg.hashsalt": "hopvec", "font.family": "DejaVu Sans"}):
        figure = draw_figure(panels, THEMES[theme], title=title, size=size, dpi=dpi, seed=seed)
        with atomic_write(path) as (file,):
            figure.savefig(
                file,
                format=suffix[1:],
                dpi=dpi,
                facecolor=figure.get_facecolor(),
                metadata=TIMELESS[suffix],
            )
