"""From a DataFrame of edges to a DataFrame of features, with pandas and with polars.

pip install hopvec pandas polars
python examples/pandas_frames.py
"""

import pandas as pd
import polars as pl

from hopvec import FastRP, Graph


def main() -> None:
    """Embed calls between people, and join the vectors to what is in another table."""
    calls = pd.DataFrame(
        {
            "caller": ["ann", "ann", "bob", "cem", "dan", "eve"],
            "callee": ["bob", "cem", "cem", "dan", "eve", "fay"],
            "minutes": [30, 5, 12, 1, 45, 20],
        }
    )
    people = pd.DataFrame({"name": ["ann", "dan", "fay", "zoe"], "age": [31, 45, 28, 60]})

    graph = Graph.from_arrow(calls, source="caller", target="callee", weight="minutes")
    embedding = FastRP(dim=8, sparsity=3, seed=7).embed(graph)

    # One column per dimension, for scikit-learn. zoe has no calls, and so no vector.
    vectors = embedding.to_pandas()
    print(people.join(vectors, on="name").iloc[:, :4].round(2))

    # One column of vectors, for Parquet and vector databases.
    frame = embedding.to_polars(as_list=True)
    print(pl.from_pandas(people).join(frame, left_on="name", right_on="id").schema)

    # The neighbors of all nodes are an Arrow table, which both libraries read.
    print(embedding.nearest_all(1).to_pandas().round(2))


if __name__ == "__main__":
    main()
