"""docs/reference/command-line.md matches the help texts."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "build-command-line-page"


def test_the_command_line_page_is_up_to_date():
    script = runpy.run_path(str(SCRIPT))
    assert script["PAGE"].read_text(encoding="utf-8") == script["page"](), f"run {SCRIPT.name}"
