"""Build the graph of a Parquet file in a process of its own: benchmarks/building.py FILE MEMORY.

Runs with any version of hopvec: it must not import the other benchmarks. Prints one JSON object
with the seconds of wall and CPU of the stages read and build, and the size of the graph.
"""

import hashlib
import json
import sys
import time


def main() -> None:
    """Read and build with the options of benchmarks/large.py."""
    from hopvec import read_graph
    from hopvec.machine import return_freed_memory

    return_freed_memory()  # as the command line does
    marks = [now()]

    def build_begins(done: int, total: int) -> None:
        if len(marks) == 1:
            marks.append(now())

    graph = read_graph(
        sys.argv[1],
        memory=sys.argv[2],
        duplicates="first",
        loops="drop",
        build_progress=build_begins,
    )
    marks.append(now())
    stages = {
        name: {measure: end[measure] - begin[measure] for measure in begin}
        for name, begin, end in zip(("read", "build"), marks, marks[1:], strict=False)
    }
    total = {measure: marks[-1][measure] - marks[0][measure] for measure in marks[0]}
    digest = hashlib.sha256()
    for array in (graph.indptr, graph.indices, graph.rows, graph.keys):
        digest.update(array)
    size = {"nodes": graph.nodes, "edges": graph.edges, "bytes": graph.nbytes}
    found = {"stages": stages | {"read + build": total}, **size, "digest": digest.hexdigest()}
    print(json.dumps(found))


def now() -> dict[str, float]:
    """The clocks of the wall and of the process."""
    return {"wall_seconds": time.perf_counter(), "cpu_seconds": time.process_time()}


if __name__ == "__main__":
    main()
