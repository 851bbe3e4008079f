"""Tables of the file benchmark: from an edge list to a file of vectors."""

from typing import Any

from benchmarks.markdown import (
    failure,
    machine_line,
    megabytes,
    number,
    seconds,
    table,
    verdict,
)
from benchmarks.peers import PEERS

TOOLS = {"hopvec": "`hopvec embed`"} | {
    name: f"pandas, {peer.title}, pandas" for name, peer in PEERS.items()
}
READERS = {"hopvec": "`hopvec.read_graph`", "polars": "polars, two Categorical columns"}
LIMITS = {"limited": "`--memory 1GB`", "unlimited": "no limit"}


def runs_table(title: str, names: dict[str, str], runs: dict[str, Any]) -> str:
    """Times and peak memory, one row per run."""
    rows = [
        [
            names[key],
            *(seconds(run[measure]) for measure in ("wall_seconds", "cpu_seconds")),
            megabytes(run["peak_rss"]),
            f"{run['others_share']['max']:.0%}",
        ]
        for key, run in runs.items()
    ]
    return table([title, "wall, s", "CPU, s", "peak, MB", "other processes"], rows)


def whole_table(found: dict[str, Any], title: str) -> str:
    """Times relative to hopvec and in seconds, one row per pipeline."""
    rows = []
    for key, tool in found["tools"].items():
        if "error" in tool:
            rows.append([TOOLS[key], failure(tool["error"]), "", "", "", "", ""])
            continue
        rows.append(
            [
                *(TOOLS[key], number(tool["ratio"]), " to ".join(map(number, tool["range"]))),
                *(seconds(tool[measure]) for measure in ("wall_seconds", "cpu_seconds")),
                megabytes(tool["peak_rss"]),
                f"{tool['others_share']['max']:.0%}",
            ]
        )
    header = [
        title,
        "wall, hopvec = 1",
        "range",
        "wall, s",
        "CPU, s",
        "peak, MB",
        "other processes",
    ]
    return table(header, rows)


def steps(found: dict[str, Any], name: str) -> str:
    """The seconds of each step of a pipeline, in one line."""
    steps = found["tools"][name].get("steps", {})
    return ", ".join(f"{step} {value:.1f}" for step, value in steps.items())


def reading_table(results: dict[str, Any]) -> str:
    """One row per reader: time to ids and codes, and to the complete graph."""
    edges = results["files"]["strings"]["edges"]
    header = [
        "reading the CSV",
        "ids and codes, s",
        "ns per edge",
        "complete graph, s",
        "ns per edge",
    ]
    rows = []
    for name, tool in results["reading"]["tools"].items():
        row = [READERS[name]]
        for measure in ("codes", "whole"):
            shown = measure == "codes" or name == "hopvec"
            pace = f"{tool[measure]['median'] / edges * 1e9:.0f}"
            row += [seconds(tool[measure]), pace] if shown else ["", ""]
        rows.append(row)
    return table(header, rows)


def memory_table(results: dict[str, Any]) -> str:
    """One row with the memory limit, one without."""
    return runs_table("Parquet to Parquet", LIMITS, results["memory"]["runs"])


def target_table(results: dict[str, Any]) -> str:
    """Ratios with their range over the rounds, and targets."""
    reading, memory = results["reading"], results.get("memory")
    fastrp = results["whole"]["tools"]["fastrp"]
    ratios = [
        ("reading to ids and codes: speedup over polars", reading["codes"], "1"),
        (
            "reading to the complete graph: speedup over ids and codes of polars",
            reading["whole"],
            "",
        ),
    ]
    if "error" not in fastrp:
        what = "file to file: speedup over pandas with fastrp (wall)"
        ratios.insert(0, (what, fastrp, "3"))
    if memory:
        what = "with a limit of 1 GB: slowdown"
        ratios.append((what, memory["slower"], "at most 2.5"))
    rows = [
        [
            what,
            number(r["ratio"]),
            " to ".join(map(number, r["range"])),
            target,
            verdict(r["met"] if target else None),
        ]
        for what, r, target in ratios
    ]
    if memory:
        peak = megabytes(memory["runs"]["limited"]["peak_rss"])
        limit = f"at most {memory['limit'] / 1e6:,.0f}"
        same = "with a limit of 1 GB: identical ids and vectors"
        rows += [
            ["with a limit of 1 GB: peak, MB", peak, "", limit, verdict(memory["peak_met"])],
            [same, "", "", "", verdict(memory["same"])],
        ]
    return table(["comparison", "result", "range", "target", "met"], rows)


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    strings, dim = results["files"]["strings"], results["dim"]
    return f"""\
## From file to file

{machine_line(results)}

Every run is a separate process, timed from start to end; tools alternate. Peaks are resident
memory, including mapped files, read from outside every 20 ms. `benchmarks/edge_files.py` writes
the edge lists: power-law graphs in random order, and the packages of Debian with their names.

{target_table(results)}

### A CSV of {strings["edges"]:,} edges

{strings["nodes"]:,} nodes with ids such as user_123456, {strings["bytes"] / 1e6:,.0f} MB. The
output is a Parquet file of ids and {dim} columns of float32.

- **hopvec**: `hopvec embed edges.csv -o vectors.parquet --dim {dim} --weights 1,1,1
  --normalize none`: the plain sum of orders 1 to 3.
- **pandas**: `read_csv`, `factorize` on both columns, a symmetric CSR matrix with scipy, the peer,
  a DataFrame with the ids and one column per dimension, `to_parquet`; all with their defaults
  (`benchmarks/pandas_pipeline.py`). Peers with the same computation use the same weights; the
  others are described in [Methods side by side](#methods-side-by-side).

{whole_table(results["whole"], "CSV to Parquet")}

Median seconds per step: hopvec {steps(results["whole"], "hopvec")}; pandas with PyPI fastrp
{steps(results["whole"], "fastrp")}.
{real_section(results)}
### Reading

To ids and codes: hopvec encodes both columns together and sorts the ids; polars encodes each column
separately. The complete graph has sorted rows in both directions, with duplicates added up. Imports
are not timed.

{reading_table(results)}
{memory_section(results)}"""


def real_section(results: dict[str, Any]) -> str:
    """The same for a real graph with names."""
    if "real" not in results:
        return ""
    file = results["files"]["real"]
    return f"""
### The packages of Debian

{file["nodes"]:,} nodes with names, {file["edges"]:,} edges, {file["bytes"] / 1e6:.1f} MB of CSV:
a graph small enough for the startup time to matter.

{whole_table(results["real"], "CSV to Parquet")}
"""


def memory_section(results: dict[str, Any]) -> str:
    """A run with a memory limit."""
    if "memory" not in results:
        return ""
    file, dim = results["files"]["integers"], results["dim"]
    return f"""
### With a memory limit

{file["nodes"]:,} nodes with integer ids and {file["edges"]:,} edges in Parquet
({file["bytes"] / 1e6:,.0f} MB), dim {dim}, otherwise with defaults. The vectors alone
are {file["nodes"] * dim * 4 / 1e6:,.0f} MB. The target for the peak is 1.1 times the limit
plus 100 MB for Python.

{memory_table(results)}"""
