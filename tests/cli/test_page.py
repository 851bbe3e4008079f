"""docs/command-line.md is what the command line says of itself."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "build-command-line-page"


def test_the_page_of_the_command_line_is_current():
    script = runpy.run_path(str(SCRIPT))
    assert script["PAGE"].read_text(encoding="utf-8") == script["page"](), f"run {SCRIPT.name}"
