"""Markdown tables, numbers and names, shared by all pages."""

from typing import Any

GRAPHS = {
    "blogcatalog": "BlogCatalog",
    "ppi": "PPI",
    "wikipedia-pos": "Wikipedia-POS",
    "wikispeedia": "Wikispeedia",
    "cora": "Cora",
    "citeseer": "Citeseer",
    "pubmed": "PubMed",
    "email-eu-core": "email-Eu-core",
    "polblogs": "Polblogs",
    "eurosis": "EuroSiS",
    "dblp": "DBLP",
    "uk-web-1996": "UK web 1996",
    "debian-packages": "Debian",
    "web-trackers-2018": "trackers",
    "debian-files": "Debian files",
    "cnr-2000": "CNR 2000",
    "chung-lu-80k": "Chung-Lu 80k",
    "chung-lu-200k": "Chung-Lu 200k",
    "erdos-renyi-1m": "Erdos-Renyi 1M",
    "rmat-20": "R-MAT 2^20",
}
"""Titles of graphs, in the order of tables."""
MEASURES = {"wall_seconds": "wall", "cpu_seconds": "CPU"}


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table with the first column left-aligned, the others right-aligned."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *rows])


def number(value: float) -> str:
    """A number with two significant digits below 10, and as an integer above."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def seconds(values: dict[str, float]) -> str:
    """Median (minimum to maximum)."""
    return f"{values['median']:.3f} ({values['min']:.3f} to {values['max']:.3f})"


def count(amount: int, noun: str) -> str:
    """A count with its noun, such as "1 thread" or "2 threads"."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def megabytes(values: dict[str, float]) -> str:
    """The maximum in megabytes."""
    return f"{values['max'] / 1e6:,.0f}"


def failure(error: str) -> str:
    """A short reason for a table cell; the complete error is listed below the table."""
    return f"> {error.split()[1]} s" if error.startswith("over ") else "failed"


def verdict(met: bool | None) -> str:
    """Whether a target was met; empty without a target."""
    return "" if met is None else "yes" if met else "**no**"


def machine_line(results: dict[str, Any]) -> str:
    """The machine and the versions in one sentence."""
    m = results["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in m["caches"].items())
    packages = ", ".join(f"{name} {version}" for name, version in m["packages"].items() if version)
    return (
        f"{m['date']}, {m['processor']}, {count(m['cores'], 'core')} ({caches}), "
        f"{m['memory']} of memory, Python {m['python']}, {packages}."
    )
