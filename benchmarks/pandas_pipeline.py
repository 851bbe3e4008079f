"""From file to file with pandas and a peer: python -m benchmarks.pandas_pipeline.

Its arguments are TOOL EDGES VECTORS DIM. pandas reads and writes with its defaults: one column of
ids, and one float32 column per dimension. Prints the seconds of each step as JSON.
"""

import sys
import time

START = time.perf_counter()

import json  # noqa: E402

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import scipy.sparse as sp  # noqa: E402

from benchmarks.measure import tool  # noqa: E402
from benchmarks.peers import PEERS  # noqa: E402

PARAMETERS = {"weights": (1, 1, 1), "beta": 0.25}  # as in files.py


def main(name: str, edges_path: str, vectors_path: str, dim: int) -> dict[str, float]:
    """Run all steps; returns the seconds of each."""
    make = tool(name, 0, {})
    ends = [("import", START), ("read", time.perf_counter())]
    edges = pd.read_csv(edges_path)
    ends.append(("factorize", time.perf_counter()))
    both = pd.concat([edges["source"], edges["target"]], ignore_index=True)
    codes, ids = pd.factorize(both)
    source, target = np.split(codes, 2)
    ends.append(("matrix", time.perf_counter()))
    rows, columns = np.concatenate([source, target]), np.concatenate([target, source])
    ones = np.ones(len(rows), np.float32)
    matrix = sp.coo_matrix((ones, (rows, columns)), (len(ids), len(ids))).tocsr()
    ends.append(("embed", time.perf_counter()))
    vectors = make(matrix, dim=dim, **PARAMETERS if PEERS[name].same_distribution else {})()
    ends.append(("write", time.perf_counter()))
    names = [f"v{column}" for column in range(dim)]
    frame = pd.DataFrame(vectors.astype(np.float32, copy=False), columns=names, copy=False)
    frame.insert(0, "id", ids)
    frame.to_parquet(vectors_path, index=False)
    ends.append(("end", time.perf_counter()))
    return {name: ends[i + 1][1] - begin for i, (name, begin) in enumerate(ends[:-1])}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:4], int(sys.argv[4]))))
