"""The table of docs/reference/benchmarks.md that compares an older builder with this one."""

from typing import Any

from benchmarks.markdown import machine_line, table, verdict
from benchmarks.processes import DISTURBED, compare, summarize

MEASURES = {"wall_seconds": "wall", "cpu_seconds": "CPU"}


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    runs = results["runs"]
    rows = []
    for stage in runs["new"][0]["stages"]:
        for measure, name in MEASURES.items():
            values = {
                version: [run["stages"][stage][measure] for run in some]
                for version, some in runs.items()
            }
            ratio = compare(values["new"], values["old"])
            low, high = ratio["range"]
            medians = (f"{summarize(some)['median']:.1f}" for some in values.values())
            share = f"{ratio['ratio']:.2f} ({low:.2f}-{high:.2f})"
            rows.append([stage, f"{name}, s", *medians, share])
    peaks = [summarize([run["peak_rss"] for run in some])["max"] for some in runs.values()]
    share = f"{peaks[1] / peaks[0]:.2f}"
    rows.append(["read + build", "peak, MB", *(f"{peak / 1e6:,.0f}" for peak in peaks), share])
    others = max(run["others_share"] for some in runs.values() for run in some)
    disturbed = f" Other processes used up to {others:.0%} of the machine."
    remark = disturbed if others > DISTURBED else ""
    return f"""\
## Building a graph, before and after

{machine_line(results)}

An R-MAT graph of 2^{results["scale"]} nodes and {results["edges"]:,} edges in Parquet, read and
built with memory={results["memory"]!r}: the version before entries were grouped by rows and this
one, alternating in separate processes. Medians of {len(runs["new"])} rounds, with the range of the
ratios.{remark} Same graph: {verdict(results["same"])}.

{table(["stage", "", "old", "new", "new / old"], rows)}"""
