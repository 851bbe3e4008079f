"""The README is short, and its links lead somewhere. Its code is run with that of the pages."""

import re

import pytest

from code_blocks import ROOT

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 120
    assert len(TEXT.split()) < 700


@pytest.mark.parametrize("script", ["demo", "test", "docs"])
def test_its_scripts_exist(script):
    assert f"./scripts/{script}" in TEXT
    assert (ROOT / "scripts" / script).stat().st_mode & 0o100


def test_its_links_lead_to_files():
    targets = re.findall(r'(?:\]\(|src="|srcset=")([^)"#]+)', TEXT)
    local = [target for target in targets if "://" not in target]
    assert len(local) > 10
    assert [target for target in local if not (ROOT / target).exists()] == []
