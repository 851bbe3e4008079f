"""The page on parameters lists every parameter of FastRP with its default, and every preset."""

import hopvec
from code_blocks import ROOT
from hopvec.methods.parameters import parameters
from hopvec.methods.presets import PRESETS

LINES = (ROOT / "docs" / "concepts" / "parameters.md").read_text(encoding="utf-8").splitlines()


def test_the_table_lists_every_parameter_with_its_default():
    for parameter in parameters(hopvec.FastRP):
        row = next(
            line
            for line in LINES
            if line.startswith(f"| `{parameter.name}`") or f", `{parameter.name}` |" in line
        )
        if parameter.default is not None:
            shown = row.split("|")[2].strip().strip('"')
            expected = parameter.default
            if isinstance(expected, tuple):
                expected = ", ".join(f"{number:g}" for number in expected)
            assert shown == (f"{expected:g}" if isinstance(expected, float) else str(expected))


def test_the_guide_lists_every_preset():
    listed = [
        line.split("|")[2].split("`")[1]
        for line in LINES
        if line.count("|") == 4 and "`" in line.split("|")[2]
    ]
    assert sorted(listed) == sorted(PRESETS)
