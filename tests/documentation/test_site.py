"""The site builds without warnings, and its navigation lists every page once."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from code_blocks import ROOT

DOCS = ROOT / "docs"
CONFIG = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def pages(nav):
    for entry in nav:
        for target in entry.values():
            yield from pages(target) if isinstance(target, list) else [target]


def test_the_navigation_lists_every_page_once():
    listed = list(pages(CONFIG["nav"]))
    notebooks = {str(path.relative_to(DOCS)) for path in DOCS.glob("tutorials/*.ipynb")}
    converted = {name.replace(".ipynb", ".md") for name in notebooks}
    written = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} | converted
    assert sorted(listed) == sorted(written - {"reproduction/report.md"})


def exists(path):
    return path.exists() or path.with_suffix(".ipynb").exists()  # notebooks become pages


def test_links_from_pages_to_other_files_lead_somewhere():
    missing = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in DOCS.rglob("*.md")
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
        if "://" not in target and not exists(page.parent / target)
    ]
    assert missing == []


def test_the_site_builds_without_warnings(tmp_path):
    pytest.importorskip("zensical", reason="the site needs the dependency group docs")
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    run(tmp_path, "python", "-m", "nbconvert", "--to", "markdown", "docs/tutorials/*.ipynb")
    done = run(tmp_path, "zensical", "build", "--strict")
    assert "No issues found" in done.stderr


def run(directory, program, *arguments):
    done = subprocess.run(
        [Path(sys.executable).parent / program, *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done
