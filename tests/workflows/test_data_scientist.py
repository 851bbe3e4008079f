"""A data scientist: from a messy CSV of payments to the segments of customers."""

import csv
import io

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict

import hopvec
from community_edges import community_edges

CUSTOMERS, SEGMENTS = 240, ("bronze", "gold", "iron", "silver")
BAD = {  # line number: (line, reason)
    11: (";17.0;2,50;2026-01-03", "the source is empty"),
    21: ("3.0;;2,50;2026-01-03", "the target is empty"),
    31: ("3.0;4.0;n/a;2026-01-04", "the weight is not a number"),
    41: ("3.0;4.0;-1,00;2026-01-04", "the weight is out of range"),
    51: ("3.0;4.0;1,0", "there are not 4 columns"),
    61: ("Total;;7500,00;", "the target is empty"),
}


@pytest.fixture
def payments(tmp_path):
    """The file as a spreadsheet exports it: a byte order mark, semicolons, decimal commas, ids of
    a column with gaps, a repeated page, and lines that are no payments."""
    lines = ["payer;payee;amount;date"]
    for number, (payer, payee) in enumerate(community_edges(CUSTOMERS, 4, 2400)):
        amount = f"{1 + number % 37 / 4:.2f}".replace(".", ",")
        lines.append(f"{payer}.0;{payee}.0;{amount};2026-01-{1 + number % 28:02d}")
    lines += lines[101:131]
    for number, (line, _) in BAD.items():
        lines.insert(number - 1, line)
    path = tmp_path / "payments.csv"
    path.write_bytes("\r\n".join([*lines, ""]).encode("utf-8-sig"))
    return path


@pytest.fixture
def customers():
    """The table of customers, in no order; some of them never paid."""
    ids = np.random.default_rng(1).permutation(np.arange(1, CUSTOMERS + 21))
    return pd.DataFrame({"customer": ids, "segment": [SEGMENTS[id % 4] for id in ids]})


def good_rows(path):
    """The payments by the csv module: the lines that are not bad."""
    lines = path.read_bytes().decode("utf-8-sig").split("\r\n")
    kept = [line for number, line in enumerate(lines, 1) if number not in BAD and line]
    return list(csv.DictReader(io.StringIO("\n".join(kept)), delimiter=";"))


def test_from_a_messy_file_to_the_segments_of_customers(payments, customers):
    # The first try stops at a line, and names the remedy.
    with pytest.raises(hopvec.FormatError, match=r"line 51.*bad_rows='skip'"):
        hopvec.read_graph(payments, source="payer", target="payee", weight="amount")

    graph = hopvec.read_graph(
        payments, source="payer", target="payee", weight="amount", bad_rows="skip"
    )
    reasons = [reason for _, reason in BAD.values()]
    assert graph.origin["skipped rows"] == {
        reason: {
            "rows": reasons.count(reason),
            "first": f"line {min(number for number in BAD if BAD[number][1] == reason)}",
        }
        for reason in dict.fromkeys(reasons)
    }
    assert graph.origin["decimal mark"] == "comma"
    assert graph.origin["ids"] == "numbers such as 1.0, read as integers"

    # What was read is what the csv module reads.
    rows = good_rows(payments)
    amounts = {}
    for row in rows:
        pair = tuple(sorted((int(float(row["payer"])), int(float(row["payee"])))))
        amounts[pair] = amounts.get(pair, 0) + float(row["amount"].replace(",", "."))
    edges = graph.to_arrow().to_pandas()
    found = {
        tuple(sorted((row.source, row.target))): row.weight for row in edges.itertuples(index=False)
    }
    assert found == pytest.approx(amounts, rel=1e-6)
    assert graph.duplicates == len(rows) - len(amounts)

    embedding = hopvec.FastRP(dim=32).embed(graph)

    # The segments of customers, predicted from their vectors: the join is by customer.
    joined = customers.set_index("customer").join(embedding.to_pandas(), how="inner")
    assert len(joined) == CUSTOMERS  # those who never paid have no vector
    vectors, segments = joined.drop(columns="segment"), joined["segment"]
    assert f1(vectors, segments) > 0.9
    shuffled = vectors.sample(frac=1, random_state=0)  # a join by position would do this
    assert f1(shuffled.to_numpy(), segments) < 0.5

    # Who is similar to whom, as a table.
    segment = customers.set_index("customer")["segment"]
    neighbors = embedding.nearest([1, 2, 3], k=10).to_pandas()
    assert list(neighbors.columns) == ["id", "neighbor", "similarity", "rank"]
    assert len(neighbors) == 30
    same = segment[neighbors["id"]].to_numpy() == segment[neighbors["neighbor"]].to_numpy()
    assert same.mean() > 0.8

    # Polars and DuckDB read the vectors as they are.
    frame = pl.DataFrame(embedding).join(pl.DataFrame(customers), left_on="id", right_on="customer")
    assert frame.schema["embedding"] == pl.Array(pl.Float32, 32)
    counts = "SELECT segment, count(*) FROM embedding JOIN customers ON id = customer GROUP BY 1"
    assert sorted(duckdb.sql(counts).fetchall()) == [(name, CUSTOMERS // 4) for name in SEGMENTS]
    assert frame.height == CUSTOMERS


def f1(vectors, segments):
    """Macro F1, cross-validated."""
    predicted = cross_val_predict(LogisticRegression(max_iter=1000), vectors, segments, cv=4)
    return f1_score(segments, predicted, average="macro")
