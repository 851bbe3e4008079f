"""The table of docs/how-to/sql.md, from benchmarks/results/postgres.json."""

from statistics import median
from typing import Any

from benchmarks.markdown import count, machine_line, table
from benchmarks.neighbors_tables import ratio


def section(results: dict[str, Any]) -> str:
    """The table and how it was measured."""
    machine, server, dim = results["machine"], results["server"], results["protocol"]["dim"]
    programs = " and ".join(f"{name} {version}" for name, version in server.items())
    load = max(machine["load_before"], machine["load_after"])
    busy = (
        f"\nThe machine was busy with other programs (load average {load:.1f}): all rates are too "
        "low, and the ratios vary."
        if load > machine["cores"]
        else ""
    )
    return f"""\
{machine_line(results)}

{programs} on the same machine, over a Unix socket, with `fsync` off. Medians of
{count(results["protocol"]["rounds"], "round")}, in which the ways alternate.{busy}

{rates("read, and build the graph", results["read"])}

"CSV" is parsed by pyarrow, "binary" by psycopg. "transfer only" reads the rows as Arrow batches
with the ADBC driver and builds no graph.

{rates(f"write vectors of dimension {dim}", results["write"])}

"binary" passes NumPy rows with the adapter of the package pgvector. All tables have a primary
key."""


def rates(title: str, found: dict[str, Any]) -> str:
    """Rows per second of each way, and its time relative to hopvec."""
    rows = [
        [
            name,
            f"{found['rows'] / median(seconds):,.0f}",
            ratio(found["ratios"][name]),
        ]
        for name, seconds in found["seconds"].items()
    ]
    return table(
        [f"{title}: {found['rows']:,} rows", "rows per second", "time, hopvec = 1 (range)"], rows
    )
