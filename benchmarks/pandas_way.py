"""From file to file as it is done today: python -m benchmarks.pandas_way EDGES VECTORS DIM.

pandas reads and writes with its defaults: one column of ids, one column of float32 a dimension.
Prints the seconds of each step as JSON.
"""

import sys
import time

START = time.perf_counter()

import json  # noqa: E402

import fastrp  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import scipy.sparse as sp  # noqa: E402


def main(edges_path: str, vectors_path: str, dim: int) -> dict[str, float]:
    """Seconds of each step."""
    ends = [("import", START), ("read", time.perf_counter())]
    edges = pd.read_csv(edges_path)
    ends.append(("number", time.perf_counter()))
    both = pd.concat([edges["source"], edges["target"]], ignore_index=True)
    codes, ids = pd.factorize(both)
    source, target = np.split(codes, 2)
    ends.append(("matrix", time.perf_counter()))
    rows, columns = np.concatenate([source, target]), np.concatenate([target, source])
    matrix = sp.coo_matrix((np.ones(len(rows)), (rows, columns)), (len(ids), len(ids))).tocsr()
    ends.append(("embed", time.perf_counter()))
    # Its weights[0] belongs to the random matrix itself; undirected=True would add the transpose.
    vectors = fastrp.fit_csr(
        *(matrix.indptr, matrix.indices, matrix.data, len(ids), dim),
        weights=[0.0, 1.0, 1.0, 1.0],
        seed=7,
        undirected=False,
    )
    ends.append(("write", time.perf_counter()))
    frame = pd.DataFrame(vectors, columns=[f"v{column}" for column in range(dim)], copy=False)
    frame.insert(0, "id", ids)
    frame.to_parquet(vectors_path, index=False)
    ends.append(("end", time.perf_counter()))
    return {name: ends[i + 1][1] - begin for i, (name, begin) in enumerate(ends[:-1])}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
