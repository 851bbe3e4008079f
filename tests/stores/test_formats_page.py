"""The tables of docs/reference/formats.md are those of the code."""

import re
from pathlib import Path

from saved_embeddings import EMBEDDING_FORMATS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"


def test_the_table_of_formats_lists_every_suffix_and_float16_support():
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    half = {}
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) == 6:
            half |= dict.fromkeys(re.findall(r"`([^`]+)`", cells[0]), cells[5] == "yes")
    expected = {suffix: "float16" in each.DTYPES for suffix, each in EMBEDDING_FORMATS.items()}
    assert half == expected
