"""Figures that pages quote from the benchmarks are those of the latest run."""

import re

from code_blocks import ROOT

DOCS = ROOT / "docs"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def benchmark(graph):
    """The rows of a graph on the page of benchmarks: relative time, macro F1, AUC of links."""
    text = (DOCS / "reference" / "benchmarks.md").read_text(encoding="utf-8")
    section = re.search(rf"^### {graph}: .*?(?=^##)", text, re.MULTILINE | re.DOTALL)[0]
    rows = [cells(line) for line in section.splitlines() if line.startswith("| ")]
    head, *rest = rows
    columns = [head.index(name) for name in ("macro F1, %", "links, degree, AUC, %")]
    return {
        row[0]: [row[1], *(row[column].split(" ± ")[0] for column in columns)]
        for row in rest
        if len(row) == len(head)
    }


def test_the_page_on_node2vec_quotes_the_benchmarks():
    text = (DOCS / "how-to" / "from-node2vec.md").read_text(encoding="utf-8")
    table = [cells(line) for line in text.splitlines() if line.startswith("| ")]
    quoted = {row[0]: row[1:] for row in table if len(row) == 7 and row[1][:1].isdigit()}
    cora, email = benchmark("Cora"), benchmark("email-Eu-core")
    assert len(quoted) == 7
    assert quoted == {tool: cora[tool] + email[tool] for tool in quoted}
