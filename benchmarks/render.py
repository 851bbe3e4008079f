"""docs/benchmarks.md and the tables of README.md and docs/quality.md, from results/*.json.

Standard library only, so that scripts/bench --render needs nothing installed.
"""

import json
import sys
from pathlib import Path

from benchmarks import core_tables, files_tables, limit_tables, quality_tables
from benchmarks.processes import RESULTS, ROOT

PARTS = {"core": core_tables, "files": files_tables, "limit": limit_tables}
OF_QUALITY = {"quality": quality_tables.section, "new_nodes": quality_tables.new_nodes_section}


def publish(root: Path = ROOT, results: Path = RESULTS) -> None:
    """Write the page and the tables of all parts that were measured."""
    sections, readme = [], (root / "README.md").read_text()
    for name, tables in PARTS.items():
        path = results / f"{name}.json"
        if path.is_file():
            found = json.loads(path.read_text())
            sections.append(tables.section(found))
            readme = between_markers(readme, name, tables.readme_block(found))
    if not sections:
        sys.exit(f"There is nothing in {results}: run scripts/bench first.")
    page = ["# Benchmarks", "Made by `scripts/bench`; do not edit, run it again.", *sections]
    (root / "docs" / "benchmarks.md").write_text("\n\n".join(page) + "\n")
    (root / "README.md").write_text(readme)
    page_of_quality = root / "docs" / "quality.md"
    for name, section in OF_QUALITY.items():
        path = results / f"{name}.json"
        if path.is_file():
            block = section(json.loads(path.read_text()))
            text = between_markers(page_of_quality.read_text(), name, block)
            page_of_quality.write_text(text)


def between_markers(text: str, name: str, block: str) -> str:
    """`text` with `block` between the markers of a part."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    if begin not in text or end not in text:
        sys.exit(f"There is no {begin} ... {end}: put these where the table belongs.")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{block}\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    publish()
