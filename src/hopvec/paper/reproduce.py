"""Reproduces items of the paper and writes the report."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from hopvec.errors import DatasetError, MissingExtraError, ParameterError
from hopvec.formats.destination import create_directory
from hopvec.paper import ITEMS
from hopvec.paper.experiment_cache import ExperimentCache, Stage, no_stage
from hopvec.paper.report import ReproductionReport, Section

logger: logging.Logger = logging.getLogger("hopvec")

PACKAGES = ("gensim", "matplotlib", "openTSNE", "optuna", "threadpoolctl")  # of the extra


def reproduce(
    items: Sequence[str] = (),
    *,
    data: Path | str | None = None,
    out: Path | str = "report",
    quick: bool = False,
    stage: Stage = no_stage,
) -> Path:
    """Reproduces tables and figures of the paper, and returns the path of the HTML report.

    The report is updated after each item. Measurements are stored in `out`/vectors, so that an
    interrupted run resumes.

    Parameters
    ----------
    items : sequence of str
        Keys of `hopvec.paper.ITEMS`; by default all.
    data : path, optional
        The directory of datasets.
    out : path
        The directory of the report.
    quick : bool
        Use small samples and few shuffles, to check that everything runs.
    stage : callable, optional
        `stage(name)` opens a stage and returns its progress callback, as a context manager.
    """
    for item in items:
        if item not in ITEMS:
            raise ParameterError(f"There is no item {item!r}. The items are {', '.join(ITEMS)}.")
    if data is not None and not Path(data).is_dir():
        raise DatasetError(f"{data}: this directory does not exist. See hopvec data --help.")
    require_extra()
    directory = Path(out)
    create_directory(directory, "index.html", "report.md")
    cache = ExperimentCache(
        data=None if data is None else Path(data),
        directory=directory / "vectors",
        quick=quick,
        stage=stage,
    )
    sections: list[Section] = []
    page = directory
    with warnings_once():
        for item in items or ITEMS:
            sections.append(import_module(f"hopvec.paper.{item}").reproduce(cache))
            if missing := sections[-1].missing:
                logger.warning("%s: some datasets are missing: %s", item, "; ".join(missing))
            report = ReproductionReport(_title(quick), _introduction(quick), sections)
            page = report.write(directory)
    return page


def require_extra() -> None:
    """Raise MissingExtraError unless the paper extra is installed."""
    if not all(map(find_spec, PACKAGES)):
        raise MissingExtraError("reproduce needs the paper extra: pip install 'hopvec[paper]'.")


@contextmanager
def warnings_once() -> Iterator[None]:
    """Log each warning once, even if several methods embed the same graph."""
    logged: set[str] = set()

    def first(record: logging.LogRecord) -> bool:
        message = record.getMessage().split(";")[0]  # the rest is advice for the method
        again = record.levelno >= logging.WARNING and message in logged
        logged.add(message)
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
        'Projection" (CIKM 2019), by hopvec reproduce, next to the results of the paper.',
        f"hopvec {version('hopvec')}, Python {platform.python_version()}, {platform.machine()}, "
        f"{platform.system()}; CPU times depend on the machine, so compare ratios.",
    ]
    if quick:
        lines.append(
            "Quick settings: small samples and few shuffles, which each section states. They show "
            "that everything runs. Claims that they cannot support are not judged; use a full run "
            "for those."
        )
    return lines
