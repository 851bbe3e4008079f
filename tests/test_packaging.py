"""The metadata of the package: dependencies, extras, versions, and what is left out of it."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]
EXTRAS = PROJECT["project"]["optional-dependencies"]


def test_a_plain_install_has_the_command_line():
    names = {re.match(r"[a-z]+", need)[0] for need in PROJECT["project"]["dependencies"]}
    assert names == {"numpy", "scipy", "pyarrow", "click", "rich"}
    assert EXTRAS["cli"] == []  # `pip install hopvec[cli]` keeps working


def test_the_extra_all_names_every_extra():
    (need,) = EXTRAS["all"]
    named = re.fullmatch(r"hopvec\[(.+)\]", need)[1].split(",")
    assert sorted(named) == sorted(EXTRAS.keys() - {"all", "cli"})


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("CITATION.cff", r"^version: (.+)$"),
        ("docs/reference/citation.md", r"version = \{(.+)\}"),
        ("packaging/conda/recipe.yaml", r'^  version: "(.+)"$'),
        ("CHANGELOG.md", r"^## \[(\d.+)\]"),
    ],
)
def test_all_files_have_the_same_version(path, pattern):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert re.search(pattern, text, re.MULTILINE)[1] == VERSION


def test_the_recipe_has_the_dependencies_of_the_package():
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("tests:")[0]
    for need in PROJECT["project"]["dependencies"]:
        assert f"- {need.replace('>=', ' >=')}\n" in run


def test_the_files_of_the_fast_tests_exist():
    lines = (ROOT / "tests/fast.txt").read_text(encoding="utf-8").split()
    for path in lines[1:]:
        assert (ROOT / path).is_file(), path


def test_the_reproduction_is_neither_in_the_wheel_nor_in_the_sdist():
    build = PROJECT["tool"]["scikit-build"]
    assert build["wheel"]["packages"] == ["src/hopvec"]
    assert "docs" in build["sdist"]["exclude"]
    assert not list((ROOT / "src").rglob("*reproduction*"))


def test_the_figures_of_the_reproduction_are_small():
    for path in (ROOT / "docs/reproduction").iterdir():
        if path.suffix in (".svg", ".png"):
            assert path.stat().st_size <= 500_000, path
