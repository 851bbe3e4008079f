"""docs/how-to/scale.md agrees with the formulas."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_plans_of_the_formulas():
    made = runpy.run_path(str(ROOT / "scripts" / "build-scale-page"))["page"]()
    assert made == (ROOT / "docs" / "how-to" / "scale.md").read_text(encoding="utf-8")
