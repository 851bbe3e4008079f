"""Table "CPU time comparison on all test datasets", on one thread as in the paper."""

from __future__ import annotations

from typing import Any

from hopvec.methods import FastRP
from hopvec.paper import published
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.report import ReportTable, Section, Verdict
from hopvec.paper.settings import NOT_IN_PAPER, PAPER_METHODS, methods, methods_text, weakened


def reproduce(cache: ExperimentCache) -> Section:
    """Times every method on every available dataset."""
    names = [*published.CPU_SECONDS, *NOT_IN_PAPER]
    seconds = {name: timed(cache, name) for name in cache.available(*names)}
    in_paper = {name: row for name, row in seconds.items() if name in published.CPU_SECONDS}
    return Section(
        name="runtime",
        title="Running time: CPU seconds on one thread",
        text=[
            "CPU time (process time) of the embedding only, on one thread; of short runs, the "
            "minimum of several. FastRP is timed as in Algorithm 1, with the plain sum. All "
            "methods are implemented in hopvec; the paper timed other programs, so the speedup "
            "over the paper differs between methods.",
            methods_text(cache),
        ],
        verdicts=[
            verdict
            for name, row in in_paper.items()
            for verdict in _verdicts(name, row, weakened(cache, name, "DeepWalk"))
        ],
        tables=[table for table in (_paper_table(in_paper), _all_table(seconds)) if table.rows],
        missing=cache.missing(*names),
    )


def timed(cache: ExperimentCache, name: str) -> dict[str, float]:
    """The CPU seconds of each method on one dataset."""
    wanted = methods(cache, name) | {"FastRP": FastRP.paper().set_params(threads=1)}
    return {label: cache.cpu_seconds(name, method) for label, method in wanted.items()}


def _verdicts(name: str, row: dict[str, float], unsupported: str = "") -> list[Verdict]:
    """The claims on one dataset; `unsupported` says why DeepWalk is not compared, if it is not."""
    paper = published.CPU_SECONDS[name]
    times, claimed = (table["DeepWalk"] / table["FastRP"] for table in (row, paper))
    slower, claimed_slower = (table["RandNE"] / table["FastRP"] for table in (row, paper))
    return [
        Verdict(
            f"{name}: FastRP is over 4,000 times faster than DeepWalk ({claimed:,.0f} times).",
            unsupported
            or f"{times:,.0f} times: compared with the paper, hopvec's DeepWalk is "
            f"{paper['DeepWalk'] / row['DeepWalk']:,.0f} times faster and its FastRP "
            f"{paper['FastRP'] / row['FastRP']:,.0f} times.",
            None if unsupported else times >= 4000,
        ),
        Verdict(
            f"{name}: RandNE is slightly slower ({claimed_slower:.1f} times).",
            f"{slower:.1f} times.",
            slower > 1,
        ),
    ]


def _paper_table(seconds: dict[str, dict[str, float]]) -> ReportTable:
    rows: list[list[Any]] = []
    for name, row in seconds.items():
        paper = published.CPU_SECONDS[name]
        for label in PAPER_METHODS:
            ratios = [table[label] / table["FastRP"] for table in (row, paper)]
            rows.append([name, label, row[label], paper[label], *ratios])
    columns = ["dataset", "method", "hopvec", "paper", "x FastRP (hopvec)", "x FastRP (paper)"]
    return ReportTable("runtime", "CPU seconds, and multiples of those of FastRP", columns, rows)


def _all_table(seconds: dict[str, dict[str, float]]) -> ReportTable:
    rows = [[name, *(row.get(label) for label in PAPER_METHODS)] for name, row in seconds.items()]
    title = "CPU seconds on every available dataset"
    return ReportTable("runtime-all", title, ["dataset", *PAPER_METHODS], rows)
