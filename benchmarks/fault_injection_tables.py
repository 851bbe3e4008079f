"""The table of docs/reference/formats.md, from benchmarks/results/fault-injection.json."""

from collections import defaultdict
from typing import Any

from benchmarks.markdown import table

GROUPS = ("embedding", "table", "graph", "store", "spill files", "map", "layout")
"""First words of the names of writers that share a row."""


def section(results: dict[str, Any]) -> str:
    """The runs of each writer and fault, and how they were chosen."""
    writers, max_operations = results["writers"], results["max_operations"]
    faults = list(next(iter(writers.values())))
    groups: dict[str, list[str]] = defaultdict(list)
    for name in writers:
        groups[next((group for group in GROUPS if name.startswith(group)), name)].append(name)
    rows = []
    for group, names in groups.items():
        cells = [sum(writers[name][fault]["runs"] for name in names) for fault in faults]
        title = f"{group}: {len(names)} kinds" if len(names) > 1 else group
        rows.append([title, *(f"{cell:,}" for cell in cells)])
    found = [cell for counts in writers.values() for cell in counts.values()]
    runs, failures = (sum(cell[name] for cell in found) for name in ("runs", "failures"))
    chosen = f"every operation, or {max_operations} of them if there are more"
    outcome = f"In all {runs:,} runs, files were the old or the new ones."
    if failures:
        outcome = f"In {failures:,} of {runs:,} runs, a file was neither the old nor the new one."
    return f"""\
`./scripts/fault-injection` runs {len(writers)} writers with {len(faults)} faults at {chosen}.
{outcome} The table shows the number of runs, by what is written.

{table(["writers", *faults], rows)}"""
