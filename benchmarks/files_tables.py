"""The tables of files: from an edge list to a file of vectors."""

from typing import Any

from benchmarks.markdown import machine_line, megabytes, number, seconds, table, verdict

TOOLS = {"hopvec": "`hopvec embed`", "pandas": "pandas, PyPI fastrp, pandas"}
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


def whole_table(results: dict[str, Any]) -> str:
    """One row a way."""
    return runs_table("CSV to Parquet", TOOLS, results["whole"]["tools"])


def steps(results: dict[str, Any], name: str) -> str:
    """The seconds of each step of one way, in one line."""
    found = results["whole"]["tools"][name]["steps"]
    return ", ".join(f"{step} {value:.1f}" for step, value in found.items())


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
    reading, memory = results["reading"], results["memory"]
    ratios = [
        ("file to file: times faster than pandas with fastrp (wall)", results["whole"], "3"),
        ("reading up to ids and codes: times faster than polars", reading["codes"], "1"),
        ("reading up to the whole graph: against polars' ids and codes", reading["whole"], ""),
        ("within 1 GB: times slower than without a bound", memory["slower"], "at most 2.5"),
    ]
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
    peak = memory["runs"]["bounded"]["peak_rss"]
    limit = f"at most {memory['limit'] / 1e6:,.0f}"
    rows += [
        ["within 1 GB: peak, MB", megabytes(peak), "", limit, verdict(memory["peak_met"])],
        ["within 1 GB: the same ids and vectors, bit by bit", "", "", "", verdict(memory["same"])],
    ]
    return table(["comparison", "found", "range", "target", "met"], rows)


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    texts, integers, dim = *results["files"].values(), results["dim"]
    return f"""\
## From file to file

{machine_line(results)}

Every run is a process of its own, from its start to its end; tools take turns. Peaks are of
resident memory, mapped files included, read from outside every 20 ms. Edge lists are power-law
graphs made by `benchmarks/edge_files.py`, seeded, in random order.

{target_table(results)}

### A CSV of {texts["edges"]:,} edges

{texts["nodes"]:,} nodes with ids such as user_123456, {texts["bytes"] / 1e6:,.0f} MB; out comes
a Parquet file of ids and {dim} columns of float32, the plain sum of orders 1 to 3.

- **hopvec**: `hopvec embed edges.csv -o vectors.parquet --dim {dim} --weights 1,1,1
  --normalize none`.
- **pandas**: `read_csv`, `factorize` over both columns, a symmetric CSR by scipy, PyPI fastrp with
  the same weights, a frame of the ids and one column a dimension, `to_parquet`; all with their
  defaults (`benchmarks/pandas_way.py`).

{whole_table(results)}

Seconds of the steps, medians: hopvec {steps(results, "hopvec")}; pandas {steps(results, "pandas")}.

### Reading it

Up to ids and codes: hopvec gives both columns one numbering and sorts the ids; polars encodes each
column. The whole graph has the rows of both directions, sorted, duplicates added up. Imports are
not timed.

{reading_table(results)}

### Within a memory bound

{integers["nodes"]:,} nodes with integer ids and {integers["edges"]:,} edges in Parquet
({integers["bytes"] / 1e6:,.0f} MB), dim {dim}, everything else by default; the vectors alone are
{integers["nodes"] * dim * 4 / 1e6:,.0f} MB. The peak may be 1.1 times the bound
and 100 MB for Python.

{memory_table(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md."""
    texts = results["files"]["texts"]
    header = [
        f"{texts['edges'] / 1e6:.0f} M edges, CSV to Parquet",
        "wall, s",
        "CPU, s",
        "peak, MB",
    ]
    rows = [
        [
            TOOLS[name],
            *(f"{tool[m]['median']:.1f}" for m in ("wall_seconds", "cpu_seconds")),
            megabytes(tool["peak_rss"]),
        ]
        for name, tool in results["whole"]["tools"].items()
    ]
    return (
        f"{table(header, rows)}\n\n"
        f"{texts['nodes'] / 1e6:.0f} M nodes with string ids, dim {results['dim']}; "
        "[steps, reading alone, memory bounds](docs/benchmarks.md#from-file-to-file)."
    )
