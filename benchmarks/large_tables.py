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
    same = f" The same bytes for all bounds: {verdict(found['same'])}." if "same" in found else ""
    return f"""\
### R-MAT with {title}

2^{found["scale"]} nodes, {found["edges"]:,} edges in {found["bytes"] / 1e9:.1f} GB of Parquet;
{graph["nodes"]:,} nodes have an edge, {graph["edges"]:,} edges are left without loops and repeats.
dim {found["dim"]}, everything else by default.{same}

{stage_table(found)}"""


BOUNDS = """\
What bounds the stages: **read** unpacks the file and looks ids up in a table that no cache holds;
**build** is two sorts by counting, whose writes go all over the memory, with the rows in a scratch
file in between where they do not fit twice; **embed** waits for lines of memory, as
[above](#what-the-machine-allows), and computes every order twice where the orders of all columns do
not fit beside the graph; **write** copies to the page cache."""


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    parts = [graph_section(title, found) for title, found in results["graphs"].items()]
    return "\n\n".join(["## Larger than memory", machine_line(results), *parts, BOUNDS])


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md: the largest graph in a sentence."""
    title, found = list(results["graphs"].items())[-1]
    bound, embedded = next(iter(found["embedded"].items()))
    stages = ", ".join(f"{stage['name']} {stage['seconds']:.0f} s" for stage in embedded["stages"])
    size, peak = found["bytes"] / 1e9, embedded["peak_rss"] / 1e9
    return (
        f"**{title[0].upper()}{title[1:]}** (R-MAT, {size:.1f} GB of Parquet) become "
        f"{found['dim']} columns within `--memory {bound}` on {results['machine']['cores']} cores: "
        f"{stages}; the peak is {peak:.1f} GB. "
        "[What bounds it](docs/benchmarks.md#larger-than-memory)."
    )
