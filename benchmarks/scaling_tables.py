"""Tables of scaling: times over nodes, edges, columns and threads."""

from typing import Any

from benchmarks.markdown import failure, machine_line, number, table
from benchmarks.peers import title_of

TITLES = {"nodes": "nodes", "edges": "edges", "dim": "columns", "threads": "threads"}


def series_table(name: str, points: list[dict[str, Any]]) -> str:
    """Wall seconds of hopvec, relative times of the other tools, and peak memory."""
    tools = list(points[0]["tools"])
    rows = []
    for point in points:
        own = point["tools"]["hopvec-float32"]
        cells = [f"{point[name]:,}", f"{own['wall_seconds']['median']:.3f}"]
        cells += [ratio(point["tools"][tool], own) for tool in tools[1:]]
        peaks = [point["tools"][tool].get("peak_rss", {}).get("max") for tool in tools]
        cells.append(" / ".join("-" if peak is None else f"{peak / 1e6:,.0f}" for peak in peaks))
        rows.append(cells)
    header = [TITLES[name], "hopvec, s", *(f"{title_of(t)}, hopvec = 1" for t in tools[1:])]
    return table([*header, "peaks, MB"], rows)


def ratio(found: dict[str, Any], own: dict[str, Any]) -> str:
    """The time of a tool relative to hopvec."""
    if "error" in found:
        return failure(found["error"])
    return number(found["wall_seconds"]["median"] / own["wall_seconds"]["median"])


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    parts = []
    for name, points in results["series"].items():
        fixed = [
            f"{points[0][other]:,} {title}" for other, title in TITLES.items() if other != name
        ]
        parts.append(
            f"### Over {TITLES[name]}\n\n{', '.join(fixed)}.\n\n{series_table(name, points)}"
        )
    tables = "\n\n".join(parts)
    return f"""\
## Scaling

{machine_line(results)}

Erdos-Renyi graphs, as in the paper's scalability study, with the computation and the tools of
[In memory](#in-memory). Wall seconds of hopvec in float32, and times of the others relative to it;
peaks are in the order of the columns.

![Time over nodes, edges, columns and threads](../images/bench-scaling-light.png)

{tables}"""
