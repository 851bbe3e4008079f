"""The tables of large: what a graph larger than memory takes, stage by stage."""

from typing import Any

from benchmarks.markdown import machine_line, table, verdict


def stage_table(found: dict[str, Any]) -> str:
    """One row a stage, with its time and its peak, for each bound."""
    generated = found["generated"]
    rows = [["generate", "", *figures(generated["wall_seconds"], generated["peak_rss"])]]
    for bound, embedded in found["embedded"].items():
        name = f"embed, `--memory {bound}`"
        rows.append([name, "", *figures(embedded["wall_seconds"], embedded["peak_rss"])])
        for stage in embedded["stages"]:
            peak = stage.get("peak_bytes") or 0
            rows.append(["", stage["name"], *figures(stage["seconds"], peak)])
    return table(["", "stage", "wall, s", "peak, MB"], rows)


def figures(seconds: float, peak: float) -> list[str]:
    """Seconds and megabytes."""
    return [f"{seconds:,.1f}", f"{peak / 1e6:,.0f}" if peak else ""]


def graph_section(title: str, found: dict[str, Any]) -> str:
    """One graph."""
    graph = next(iter(found["embedded"].values()))["graph"]
    note = f"\n\n{found['note']}" if "note" in found else ""
    same = f" The same bytes for all bounds: {verdict(found['same'])}." if "same" in found else ""
    return f"""\
### R-MAT with {title}

2^{found["scale"]} nodes, {found["edges"]:,} edges in {found["bytes"] / 1e9:.1f} GB of Parquet;
{graph["nodes"]:,} nodes have an edge, {graph["edges"]:,} edges are left without loops and repeats.
dim {found["dim"]}, everything else by default.{same}

{stage_table(found)}{note}"""


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    parts = [graph_section(title, found) for title, found in results["graphs"].items()]
    return "\n\n".join(["## Larger than memory", machine_line(results), *parts])
