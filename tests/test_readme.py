import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import hopvec
from hopvec.formats.graphs.write import write_graph

README = Path(__file__).parents[1] / "README.md"
NOT_RUN = ("reproduce", "explore", "demo")  # only parsed: they have tests of their own


def blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_first_example_runs_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(blocks()[0], "README.md", "exec"), names)
    embedding = names["embedding"]
    assert embedding["ann"].shape == (128,)
    assert len(embedding.nearest("ann", 2)) == 2
    np.testing.assert_array_equal(hopvec.load("vectors.parquet").vectors, embedding.vectors)


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


def test_the_commands_of_the_readme_are_those_of_the_program(tmp_path, monkeypatch):
    import click
    from click.testing import CliRunner

    from hopvec.cli.program import hopvec as program

    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^    hopvec (\w.*?)(?: +#.*)?$", text, re.MULTILINE)
    assert commands[0].startswith("embed edges.csv")
    monkeypatch.chdir(tmp_path)
    sites = ["nytimes.com", *(f"site{number}.com" for number in range(100))]
    pairs = [*pairwise(sites), *zip(sites, sites[2:], strict=False)]
    Path("edges.csv").write_text("".join(f"{a},{b}\n" for a, b in pairs))
    Path("labels.csv").write_text("".join(f"{site},{at % 2}\n" for at, site in enumerate(sites)))
    Path("nodes.csv").write_text("id,size\n" + "".join(f"{site},{len(site)}\n" for site in sites))
    Path("ratings.csv").write_text(
        "user,item\nann,tea\nann,jam\nbob,tea\nbob,rum\ncem,jam\ncem,rum\n"
    )
    Path("debian").mkdir()
    names = ["gimp", "babl", "gegl", "gtk"]
    graph = hopvec.Graph.from_edges(names, [*names[1:], names[0]])
    write_graph(graph, "debian/edges.parquet")
    hopvec.FastRP(dim=8).embed(graph).save("debian/fastrp.parquet")
    for command in commands:
        name, *arguments = command.split()
        if name in NOT_RUN or "--spark" in arguments:
            program.get_command(click.Context(program), name).make_context(name, arguments)
            continue
        result = CliRunner().invoke(program, [name, *arguments])
        assert result.exit_code == 0, (command, result.output)
    assert Path("vectors.parquet").exists()
