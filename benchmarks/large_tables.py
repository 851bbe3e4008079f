"""Table of a large graph with a memory limit: time and memory by stage."""

from typing import Any

from benchmarks.markdown import machine_line, table, verdict


def stage_table(found: dict[str, Any]) -> str:
    """Time and peak of each stage, for each set of options."""
    generated = found["generated"]
    rows = [["generate", "", *process_figures(generated)]]
    for options, embedded in found["embedded"].items():
        name = f"embed, `{options}`"
        rows.append([name, "", *process_figures(embedded)])
        for stage in embedded["stages"]:
            peak, cpu = stage.get("peak_bytes") or 0, stage.get("cpu_seconds") or 0
            rows.append(["", stage["name"], *figures(stage["seconds"], cpu, peak)])
    return table(["", "stage", "wall, s", "CPU, s", "peak, MB"], rows)


def process_figures(found: dict[str, Any]) -> list[str]:
    """The figures of a whole process."""
    return figures(found["wall_seconds"], found["cpu_seconds"], found["peak_rss"])


def figures(seconds: float, cpu: float, peak: float) -> list[str]:
    """Seconds and megabytes."""
    texts = f"{cpu:,.1f}" if cpu else "", f"{peak / 1e6:,.0f}" if peak else ""
    return [f"{seconds:,.1f}", *texts]


LIMITING_FACTORS = """\
What limits the stages: **read** decompresses the file and looks up ids in a table that exceeds the
caches. **build** groups the entries by ranges of rows, so that counters and rows are accessed at
random only within a cache; if the rows do not fit into memory twice, they go to a spill file in
between. **embed** waits for memory, as described
[above](#hardware-limits), and computes every order twice if the orders of all columns do not fit
next to the graph. **write** copies to the page cache."""


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    graph = next(iter(results["embedded"].values()))["graph"]
    same = f" Same output for both limits: {verdict(results['same'])}." if "same" in results else ""
    return f"""\
## With a memory limit

{machine_line(results)}

An R-MAT graph of 2^{results["scale"]} nodes, {results["edges"]:,} edges in
{results["bytes"] / 1e9:.1f} GB of Parquet; {graph["nodes"]:,} nodes have an edge, and
{graph["edges"]:,} edges remain without loops and duplicates. dim {results["dim"]}, otherwise with
defaults.{same}

{stage_table(results)}

{LIMITING_FACTORS}"""
