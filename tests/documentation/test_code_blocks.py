"""Every Python block and every command of the documentation works as printed."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import hopvec
from code_blocks import ROOT, blocks_of, run

DOCS = ROOT / "docs"
GENERATED = {  # from the program and from benchmarks, with tests of their own
    DOCS / "reference" / "command-line.md",
    DOCS / "reference" / "benchmarks.md",
    DOCS / "reproduction" / "report.md",
    *((path.with_suffix(".md")) for path in (DOCS / "tutorials").glob("*.ipynb")),
}
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    if page not in GENERATED and blocks_of(page)
]


def write_small_files():
    """Write the files that pages may use without saying so: edges, labels, features, ratings."""
    sites = ["nytimes.com", *(f"site{number}.com" for number in range(100))]
    pairs = [*pairwise(sites), *zip(sites, sites[2:], strict=False)]
    lines = (f"{a},{b},{1 + len(a) % 3}\n" for a, b in pairs)
    Path("edges.csv").write_text("source,target,weight\n" + "".join(lines))
    classes = (f"{site},{'news' if at % 3 else 'shops'}\n" for at, site in enumerate(sites))
    Path("labels.csv").write_text("node,label\n" + "".join(classes))
    Path("nodes.csv").write_text("id,size\n" + "".join(f"{site},{len(site)}\n" for site in sites))
    people, items = ["ann", "bob", "cem", "dan", "eve", "fay"], ["tea", "jam", "rum", "oil", "nut"]
    bought = [
        (person, item)
        for at, person in enumerate(people)
        for to, item in enumerate(items)
        if (at * 2 + to) % 5 < 3
    ]
    Path("ratings.csv").write_text("user,item\n" + "".join(f"{a},{b}\n" for a, b in bought))
    hopvec.FastRP(dim=16).embed(hopvec.read_graph("edges.csv")).save("vectors.parquet")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_small_files()
    run(page)


def test_every_comment_about_running_is_right_above_a_block():
    for page in PAGES:
        comments = re.findall(r"<!-- (?:not run|needs): ", page.read_text(encoding="utf-8"))
        blocks = [block for block in blocks_of(page) if block.not_run or block.needs]
        assert len(comments) == len(blocks), page


def test_code_has_a_language_that_is_run():
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        languages = re.findall(r"^ *``` ?(\w*)", page.read_text(encoding="utf-8"), re.MULTILINE)
        unknown = set(languages) & {"py", "python3", "sh", "shell", "console", "pycon"}
        assert not unknown, f"{page.name}: write python or bash instead of {unknown}"


def test_most_blocks_are_run():
    blocks = [block for page in PAGES for block in blocks_of(page)]
    not_run = [block for block in blocks if block.not_run]
    assert len(not_run) < 0.25 * len(blocks), [block.not_run for block in not_run]
