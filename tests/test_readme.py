import re
from pathlib import Path

import numpy as np
import pytest

import hopvec

README = Path(__file__).parents[1] / "README.md"


def blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_first_example_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(blocks()[0], "README.md", "exec"), names)
    embedding = names["embedding"]
    assert embedding["ann"].shape == (128,)
    assert len(embedding.nearest("ann", 2)) == 2
    np.testing.assert_array_equal(hopvec.load("vectors.npz").vectors, embedding.vectors)


def test_the_table_of_parameters_names_every_parameter_with_its_default():
    from hopvec.methods.parameters import parameters

    text = README.read_text(encoding="utf-8")
    for parameter in parameters(hopvec.FastRP):
        row = next(
            line
            for line in text.splitlines()
            if f"| `{parameter.name}`" in line or f", `{parameter.name}` |" in line
        )
        if parameter.default is not None:
            shown = row.split("|")[2].strip().strip('"')
            expected = parameter.default
            if isinstance(expected, tuple):
                expected = ", ".join(f"{number:g}" for number in expected)
            assert shown == (f"{expected:g}" if isinstance(expected, float) else str(expected))


@pytest.mark.parametrize("script", ["demo", "test"])
def test_the_two_commands_at_the_top_exist(script):
    assert f"./scripts/{script}" in README.read_text(encoding="utf-8").split("## ")[0]
    assert (README.parent / "scripts" / script).stat().st_mode & 0o100
