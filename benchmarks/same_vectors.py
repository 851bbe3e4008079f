"""Compare two files of vectors: python -m benchmarks.same_vectors A B prints {"same": ...}."""

import hashlib
import json
import sys

import pyarrow.parquet as pq


def digests(path: str) -> tuple[str, str]:
    """Digests of all ids and of all values, in order, for any row groups."""
    ids, numbers = hashlib.sha256(), hashlib.sha256()
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1 << 15):
            ids.update(batch.column(0).to_numpy().tobytes())
            numbers.update(batch.column(1).flatten().to_numpy().tobytes())
    return ids.hexdigest(), numbers.hexdigest()


if __name__ == "__main__":
    first, second = map(digests, sys.argv[1:])
    print(json.dumps({"same": first == second}))
