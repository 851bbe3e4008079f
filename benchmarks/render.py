"""docs/benchmarks.md, its pictures, and the tables of README.md and docs/quality.md.

`python -m benchmarks.render` makes all of them from results/*.json; with --quick, from those of a
quick run, into results/quick: nothing that is published changes.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    ablation_tables,
    bipartite_tables,
    core_tables,
    environments_tables,
    files_tables,
    large_tables,
    limit_tables,
    methods_tables,
    quality_tables,
    scaling_tables,
    spark_tables,
)
from benchmarks.processes import RESULTS, ROOT, results_folder, say

PARTS = {
    "core": core_tables,
    "methods": methods_tables,
    "files": files_tables,
    "scaling": scaling_tables,
    "limit": limit_tables,
    "large": large_tables,
    "environments": environments_tables,
}
ELSEWHERE = {
    "ablation": ("performance.md", ablation_tables.section),
    "quality": ("quality.md", quality_tables.section),
    "new_nodes": ("quality.md", quality_tables.new_nodes_section),
    "bipartite": ("kinds.md", bipartite_tables.section),
    "spark": ("scale.md", spark_tables.section),
}
"""Parts whose tables stand on other pages."""
HEAD = ["# Benchmarks", "Made by `scripts/bench`; do not edit, run it again."]


def publish(root: Path = ROOT) -> None:
    """Write the page, its pictures and the tables of all parts that were measured."""
    found = results(RESULTS)
    write_page(found, root / "docs" / "benchmarks.md", root / "docs" / "images")
    readme = (root / "README.md").read_text()
    for name, tables in PARTS.items():
        if name in found and hasattr(tables, "readme_block"):
            readme = between_markers(readme, name, tables.readme_block(found[name]))
    (root / "README.md").write_text(readme)
    for name, (file, section) in ELSEWHERE.items():
        path, page = RESULTS / f"{name}.json", root / "docs" / file
        if path.is_file():
            block = section(json.loads(path.read_text()))
            page.write_text(between_markers(page.read_text(), name, block))


def preview() -> Path:
    """The page of a quick run, beside its results."""
    folder = results_folder(quick=True)
    page = folder / "benchmarks.md"
    write_page(results(folder), page, folder / "images")
    return page


def results(folder: Path) -> dict[str, Any]:
    """What was measured, by part."""
    paths = {name: folder / f"{name}.json" for name in PARTS}
    found = {name: json.loads(path.read_text()) for name, path in paths.items() if path.is_file()}
    if not found:
        sys.exit(f"There is nothing in {folder}: run scripts/bench first.")
    return found


def write_page(found: dict[str, Any], page: Path, images: Path) -> None:
    """The page and its pictures."""
    from benchmarks import plots

    images.mkdir(parents=True, exist_ok=True)
    plots.draw(found, images)
    sections = [tables.section(found[name]) for name, tables in PARTS.items() if name in found]
    text = "\n\n".join([*HEAD, *(section.strip() for section in sections)])
    page.write_text(re.sub("\n{3,}", "\n\n", text) + "\n")


def between_markers(text: str, name: str, block: str) -> str:
    """`text` with `block` between the markers of a part."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    if begin not in text or end not in text:
        sys.exit(f"There is no {begin} ... {end}: put these where the table belongs.")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{block}\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="scripts/bench --render")
    parser.add_argument("--quick", action="store_true", help="of a quick run, beside its results")
    if parser.parse_args().quick:
        say(f"see {preview()}")
    else:
        publish()
