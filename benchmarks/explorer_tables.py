"""The table of docs/how-to/explorer.md, from benchmarks/results/explorer.json."""

from typing import Any

from benchmarks.markdown import machine_line, number, table

NAMES = {
    "page": "the page",
    "about": "description of the embedding",
    "names": "names of three nodes",
    "complete": "completions of a name",
    "find": "a node by its name",
    "neighbors": "the 10 nearest neighbors of a node",
    "positions": "the positions of all nodes",
}


def section(results: dict[str, Any]) -> str:
    """The table and how it was measured."""
    protocol, memory = results["protocol"], results["memory"]
    load = max(results["machine"]["load_before"], results["machine"]["load_after"])
    busy = (
        f" The machine was busy with other programs (load average {load:.0f}), so all times "
        "are too long."
        if load > 2 * results["machine"]["cores"]
        else ""
    )
    rows = [
        [
            NAMES[name],
            f"{found['requests']:,}",
            *(number(found[column]) for column in ("p50", "p95", "p99", "max")),
        ]
        for name, found in results["latency"].items()
    ]
    head = ["request", "requests", "median, s", "95 %, s", "99 %, s", "longest, s"]
    return f"""\
{machine_line(results)}

{protocol["requests"]:,} requests over {protocol["connections"]} concurrent connections, for
{protocol["nodes"]:,} vectors of dimension {protocol["dim"]}. At the same time,
{protocol["slow"]} slow clients send or read a few bytes per second. The server answered
{results["per_second"]:,.0f} requests per second; {results["failed"] or "none"} failed. It took
{memory[0] / 1e6:,.0f} MB before the first request, {memory[1] / 1e6:,.0f} MB after the first
thousand, and {memory[-1] / 1e6:,.0f} MB at the end.{busy}

{table(head, rows)}

Requests queue behind those of the other connections. All kinds wait about equally long: no kind of
request is starved."""
