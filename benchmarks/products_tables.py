"""The table of docs/reference/performance.md that compares whitening with BLAS."""

from typing import Any

from benchmarks.markdown import machine_line, table


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/performance.md."""
    rows = [
        [
            f"{row['rows']:,} x {row['columns']:,}",
            str(row["threads"]),
            f"{row['numpy_gram'] / row['gram']:.0%}",
            f"{row['numpy_product'] / row['product']:.0%}",
        ]
        for row in results["rows"]
    ]
    header = ["rows x columns", "threads", "Gram matrix", "product"]
    return f"""\
{machine_line(results)}

Speed relative to the BLAS of numpy in float32, medians of {results["repeats"]} rounds. The times of
hopvec include centering the rows and scaling them to unit length; numpy gets normalized rows, and
computes only half of the Gram matrix, too.

{table(header, rows)}"""
