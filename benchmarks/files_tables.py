"""The tables of files: from an edge list to a file of vectors."""

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
HOW = {"bounded": "`--memory 1GB`", "free": "no bound"}


def runs_table(title: str, names: dict[str, str], runs: dict[str, Any]) -> str:
    """Times and peak memory, one row a run."""
    rows = [
        [
            names[key],
            *(seconds(run[measure]) for measure in ("wall_seconds", "cpu_seconds")),
            megabytes(run["peak_rss"]),
            f"{run['others_share']['max']:.0%}",
        ]
        for key, run in runs.items()
    ]
    return table([title, "wall, s", "CPU, s", "peak, MB", "others"], rows)


def whole_table(found: dict[str, Any], title: str) -> str:
    """One row a way, as ratios to hopvec and as times."""
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
    header = [title, "wall, hopvec = 1", "range", "wall, s", "CPU, s", "peak, MB", "others"]
    return table(header, rows)


def steps(found: dict[str, Any], name: str) -> str:
    """The seconds of each step of one way, in one line."""
    steps = found["tools"][name].get("steps", {})
    return ", ".join(f"{step} {value:.1f}" for step, value in steps.items())


def reading_table(results: dict[str, Any]) -> str:
    """One row a reader: up to ids and codes, and what hopvec does after that."""
    edges = results["files"]["texts"]["edges"]
    header = ["reading the CSV", "ids and codes, s", "ns per edge", "whole graph, s", "ns per edge"]
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
    """One row with the bound, one without."""
    return runs_table("Parquet to Parquet", HOW, results["memory"]["runs"])


def target_table(results: dict[str, Any]) -> str:
    """Every ratio with its range over the rounds and its target."""
    reading, memory = results["reading"], results.get("memory")
    fastrp = results["whole"]["tools"]["fastrp"]
    ratios = [
        ("reading up to ids and codes: times faster than polars", reading["codes"], "1"),
        ("reading up to the whole graph: against polars' ids and codes", reading["whole"], ""),
    ]
    if "error" not in fastrp:
        what = "file to file: times faster than pandas with fastrp (wall)"
        ratios.insert(0, (what, fastrp, "3"))
    if memory:
        what = "within 1 GB: times slower than without a bound"
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
        peak = megabytes(memory["runs"]["bounded"]["peak_rss"])
        limit = f"at most {memory['limit'] / 1e6:,.0f}"
        same = "within 1 GB: the same ids and vectors, bit by bit"
        rows += [
            ["within 1 GB: peak, MB", peak, "", limit, verdict(memory["peak_met"])],
            [same, "", "", "", verdict(memory["same"])],
        ]
    return table(["comparison", "found", "range", "target", "met"], rows)


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    texts, dim = results["files"]["texts"], results["dim"]
    return f"""\
## From file to file

{machine_line(results)}

Every run is a process of its own, from its start to its end; tools take turns. Peaks are of
resident memory, mapped files included, read from outside every 20 ms. The edge lists are made by
`benchmarks/edge_files.py`: power-law graphs in random order, and the packages of Debian with their
names.

{target_table(results)}

### A CSV of {texts["edges"]:,} edges

{texts["nodes"]:,} nodes with ids such as user_123456, {texts["bytes"] / 1e6:,.0f} MB; out comes
a Parquet file of ids and {dim} columns of float32.

- **hopvec**: `hopvec embed edges.csv -o vectors.parquet --dim {dim} --weights 1,1,1
  --normalize none`: the plain sum of orders 1 to 3.
- **pandas**: `read_csv`, `factorize` over both columns, a symmetric CSR by scipy, the peer, a frame
  of the ids and one column a dimension, `to_parquet`; all with their defaults
  (`benchmarks/pandas_way.py`). Peers of the same law have the same weights; what the others do is
  told under "Methods side by side".

{whole_table(results["whole"], "CSV to Parquet")}

Seconds of the steps, medians: hopvec {steps(results["whole"], "hopvec")}; pandas with PyPI fastrp
{steps(results["whole"], "fastrp")}.
{real_section(results)}
### Reading it

Up to ids and codes: hopvec gives both columns one numbering and sorts the ids; polars encodes each
column. The whole graph has the rows of both directions, sorted, duplicates added up. Imports are
not timed.

{reading_table(results)}
{memory_section(results)}"""


def real_section(results: dict[str, Any]) -> str:
    """The same from a real graph with names."""
    if "real" not in results:
        return ""
    file = results["files"]["real"]
    return f"""
### The packages of Debian

{file["nodes"]:,} nodes with names, {file["edges"]:,} edges, {file["bytes"] / 1e6:.1f} MB of CSV: a
graph at which the start of a program counts.

{whole_table(results["real"], "CSV to Parquet")}
"""


def memory_section(results: dict[str, Any]) -> str:
    """A run within a bound."""
    if "memory" not in results:
        return ""
    file, dim = results["files"]["integers"], results["dim"]
    return f"""
### Within a memory limit

{file["nodes"]:,} nodes with integer ids and {file["edges"]:,} edges in Parquet
({file["bytes"] / 1e6:,.0f} MB), dim {dim}, everything else by default; the vectors alone are
{file["nodes"] * dim * 4 / 1e6:,.0f} MB. The peak may be 1.1 times the bound
and 100 MB for Python.

{memory_table(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md."""
    texts = results["files"]["texts"]
    title = f"{texts['edges'] / 1e6:.1f} M edges, CSV to Parquet"
    rows = [
        [
            TOOLS[name],
            number(tool["ratio"]),
            *(f"{tool[m]['median']:.1f}" for m in ("wall_seconds", "cpu_seconds")),
            megabytes(tool["peak_rss"]),
        ]
        if "error" not in tool
        else [TOOLS[name], failure(tool["error"]), "", "", ""]
        for name, tool in results["whole"]["tools"].items()
    ]
    return (
        f"{table([title, 'wall, hopvec = 1', 'wall, s', 'CPU, s', 'peak, MB'], rows)}\n\n"
        f"{texts['nodes'] / 1e6:.1f} M nodes with string ids, dim {results['dim']}; "
        "[steps, reading alone, memory bounds](docs/benchmarks.md#from-file-to-file)."
    )
