"""Maps and the explorer use the same colors."""

import re
from pathlib import Path

import hopvec.view
from hopvec.view.theme import PALETTE


def test_the_page_has_the_colors_of_the_maps():
    script = Path(hopvec.view.__file__).parent / "explorer" / "static" / "colors.js"
    petroff = re.search(r"const PETROFF = \[(.*?)\]", script.read_text(), re.DOTALL)[1]
    assert tuple(re.findall(r"#[0-9a-f]{6}", petroff)) == PALETTE
