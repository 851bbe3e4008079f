"""Runs items of the paper and writes the report."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from hopvec.errors import DatasetError, ParameterError
from hopvec.paper import ITEMS
from hopvec.paper.experiment_cache import ExperimentCache, Stage, no_stage
from hopvec.paper.report import ReproductionReport, Section

logger = logging.getLogger("hopvec")


def reproduce(
    items: Sequence[str] = (),
    *,
    data: Path | str | None = None,
    out: Path | str = "report",
    quick: bool = False,
    stage: Stage = no_stage,
) -> Path:
    """Reproduces tables and figures of the paper, all of them if none is named; path of the page.

    The report is written anew after each item, so that what is done can be read; embeddings are
    kept in `out`/vectors, so that a stopped run goes on where it was. `stage(name)` opens a
    stage and gives a function that is told its progress.
    """
    for item in items:
        if item not in ITEMS:
            raise ParameterError(f"There is no item {item!r}; they are {', '.join(ITEMS)}.")
    if data is not None and not Path(data).is_dir():
        raise DatasetError(f"{data}: there is no folder of data sets. See hopvec data --help.")
    folder = Path(out)
    cache = ExperimentCache(
        data=None if data is None else Path(data),
        folder=folder / "vectors",
        quick=quick,
        stage=stage,
    )
    sections: list[Section] = []
    page = folder
    with warnings_once():
        for item in items or ITEMS:
            sections.append(import_module(f"hopvec.paper.{item}").reproduce(cache))
            if missing := sections[-1].missing:
                logger.warning("%s: not all data sets are there: %s", item, "; ".join(missing))
            page = ReproductionReport(_title(quick), _introduction(quick), sections).write(folder)
    return page


@contextmanager
def warnings_once() -> Iterator[None]:
    """Tells each warning of the library once, however many methods meet the same graph."""
    told: set[str] = set()

    def first(record: logging.LogRecord) -> bool:
        message = record.getMessage().split(";")[0]  # what comes after is advice for the method
        again = record.levelno >= logging.WARNING and message in told
        told.add(message)
        return not again

    logger.addFilter(first)
    try:
        yield
    finally:
        logger.removeFilter(first)


def _title(quick: bool) -> str:
    return "FastRP, reproduced" + (" (quick settings)" if quick else "")


def _introduction(quick: bool) -> list[str]:
    lines = [
        'Every table and figure of "Fast and Accurate Network Embeddings via Very Sparse Random '
        "Projection\" (CIKM 2019), made by hopvec reproduce, with the paper's figures beside ours.",
        f"hopvec {version('hopvec')}, Python {platform.python_version()}, {platform.machine()}, "
        f"{platform.system()}; CPU times are those of this machine, so compare ratios.",
    ]
    if quick:
        lines.append(
            "Quick settings: small samples, few shuffles. They show that everything runs, and the "
            "direction of results; the figures are those of the full run."
        )
    return lines
