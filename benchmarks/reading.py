"""Read an edge list in a separate process: python -m benchmarks.reading TOOL EDGES.

Both tools produce ids and codes; hopvec then builds a graph. Prints one JSON object.
"""

import json
import sys
import time
from typing import Any


def hopvec(path: str) -> dict[str, float]:
    """read_graph, with the time when ids and codes are ready and the rows are built next."""
    from hopvec import read_graph
    from hopvec.formats.graphs import build as building

    ready: list[float] = []
    build = building.from_numbered_edges

    def timed_build(*arguments: Any, **options: Any) -> Any:
        ready.append(time.perf_counter())
        return build(*arguments, **options)

    building.from_numbered_edges = timed_build
    start = time.perf_counter()
    graph = read_graph(path)
    whole = time.perf_counter() - start
    return {"codes": ready[0] - start, "whole": whole, "edges": graph.edges}


def polars(path: str) -> dict[str, float]:
    """read_csv, then both columns as Categorical, the dictionary encoding of polars."""
    import polars as pl

    start = time.perf_counter()
    edges = pl.read_csv(path)
    edges = edges.with_columns(pl.col("source", "target").cast(pl.Categorical))
    codes = time.perf_counter() - start
    return {"codes": codes, "whole": codes, "edges": len(edges)}


if __name__ == "__main__":
    tools = {"hopvec": hopvec, "polars": polars}
    print(json.dumps(tools[sys.argv[1]](sys.argv[2])))
