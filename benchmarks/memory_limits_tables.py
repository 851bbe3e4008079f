"""The table of runs within memory limits."""

from typing import Any

from benchmarks.markdown import machine_line, table, verdict
from benchmarks.memory_limits import within_limit


def section(results: dict[str, Any]) -> str:
    """The table of docs/reference/performance.md."""
    cases = results["cases"]
    runs = [one for case in cases for one in case["runs"]]
    rows = [
        [
            f"{case['nodes']:,}",
            f"{case['edges']:,}",
            f"`{case['options']}`",
            case["files"],
            *(figures(one) for one in case["runs"]),
        ]
        for case in cases
    ]
    heads = ["nodes", "edges", "options", "files", "peak of minimum", "peak of larger limit"]
    same = verdict(all(case["same"] for case in cases))
    kept = sum(map(within_limit, runs))
    return f"""\
{machine_line(results)}

{len(runs)} runs of `hopvec embed` on {len(cases)} random graphs, by `python -m
benchmarks.memory_limits`: a run with a limit of 1 MB is refused; then each graph is embedded with
exactly the minimum that the error names, and with a larger limit. Cells show the peak resident
memory of the whole process and the limit, in MB. Within their limits: {kept} of {len(runs)}. Same
bytes for both limits: {same}.

{table(heads, rows)}"""


def figures(run: dict[str, Any]) -> str:
    """The peak and the limit."""
    if "error" in run:
        return "failed"
    return f"{run['peak'] / 1e6:,.0f} of {run['limit'] / 1e6:,.0f}"
