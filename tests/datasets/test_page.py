"""docs/reference/datasets.md is up to date with the catalog."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_matches_the_catalog():
    made = runpy.run_path(str(ROOT / "scripts" / "build-datasets-page"))["page"]()
    assert made == (ROOT / "docs" / "reference" / "datasets.md").read_text(encoding="utf-8")
