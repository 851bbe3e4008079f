"""One reading of an edge list in a process of its own: python -m benchmarks.reading TOOL EDGES.

Both tools end with ids and their codes; hopvec's go on to a graph. Prints one JSON object.
"""

import json
import sys
import time
from typing import Any


def hopvec(path: str) -> dict[str, float]:
    """read_graph, with the time at which ids and codes are ready and building the rows begins."""
    from hopvec.formats.graphs import read

    ready: list[float] = []
    build = read.from_numbering

    def noticed(*arguments: Any, **options: Any) -> Any:
        ready.append(time.perf_counter())
        return build(*arguments, **options)

    read.from_numbering = noticed
    start = time.perf_counter()
    graph = read.read_graph(path)
    whole = time.perf_counter() - start
    return {"codes": ready[0] - start, "whole": whole, "edges": graph.edges}


def polars(path: str) -> dict[str, float]:
    """read_csv, then both columns as Categorical: polars' dictionary encoding."""
    import polars as pl

    start = time.perf_counter()
    edges = pl.read_csv(path)
    edges = edges.with_columns(pl.col("source", "target").cast(pl.Categorical))
    codes = time.perf_counter() - start
    return {"codes": codes, "whole": codes, "edges": len(edges)}


if __name__ == "__main__":
    tools = {"hopvec": hopvec, "polars": polars}
    print(json.dumps(tools[sys.argv[1]](sys.argv[2])))
