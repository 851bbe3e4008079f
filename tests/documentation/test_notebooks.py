"""Every notebook runs from a clean kernel, and the outputs in its file are those of a run."""

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from code_blocks import ROOT

TUTORIALS = ROOT / "docs" / "tutorials"
NOTEBOOKS = sorted(TUTORIALS.glob("*.ipynb"))
VARIES = "varies"  # tag of cells whose output depends on the versions of other packages
NUMBER = re.compile(r"[+-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")
TOLERANCE = 0.02  # of numbers: other BLAS libraries round differently
FORBIDDEN = re.compile(
    r"Traceback|Warning\b|\x1b\[|(?<![\w.])/(?:home|root|tmp|usr|work|Users)/|C:\\"
)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell):
    """The text output of a cell, such as a printed table; pictures have none."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append(output.text)
        elif "image/png" not in output.get("data", {}):
            texts.append(output.get("data", {}).get("text/plain", ""))
    return "".join(texts)


def words_and_numbers(text):
    """The words of a text without its numbers and spaces, and the numbers."""
    numbers = [float(number.replace(",", "")) for number in NUMBER.findall(text)]
    return NUMBER.sub("0", text).split(), numbers


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def committed(request):
    """A notebook as it is in the repository."""
    return nbformat.read(request.param, as_version=4)


@pytest.fixture(scope="module")
def run(committed, tmp_path_factory):
    """The same notebook after a run from a clean kernel, in a directory of its own."""
    notebook = nbformat.from_dict(committed)
    directory = str(tmp_path_factory.mktemp("notebook"))
    with pytest.MonkeyPatch.context() as patch:
        commands = Path(sys.executable).parent  # cells run the command hopvec
        patch.setenv("PATH", os.pathsep.join([str(commands), os.environ["PATH"]]))
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=300,
            resources={"metadata": {"path": directory}},
        ).execute()
    return notebook


def test_all_tutorials_of_the_site_have_a_notebook():
    site = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    pages = set(re.findall(r'"tutorials/([\w-]+)\.md"', site)) - {"index"}
    assert {path.stem for path in NOTEBOOKS} == pages


def test_a_notebook_gives_the_outputs_in_its_file(committed, run):
    for ours, new in zip(code_cells(committed), code_cells(run), strict=True):
        assert bool(ours.outputs) == bool(new.outputs), f"run scripts/run-notebooks: {ours.source}"
        if VARIES in ours.metadata.get("tags", []):
            continue
        words, numbers = words_and_numbers(text_of(ours))
        new_words, new_numbers = words_and_numbers(text_of(new))
        assert new_words == words, f"run scripts/run-notebooks: {ours.source}"
        assert new_numbers == pytest.approx(numbers, rel=TOLERANCE, abs=TOLERANCE), ours.source


def test_outputs_hold_no_paths_warnings_or_tracebacks(committed):
    for cell in code_cells(committed):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source
        found = FORBIDDEN.search(str([output.get("data", output) for output in cell.outputs]))
        pictures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
        assert pictures or not found, f"{found}: {cell.source}"


def test_pictures_are_described(committed):
    for cell in code_cells(committed):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                assert output.metadata["image/png"]["alt"], cell.source


def test_a_notebook_is_short_and_readable(committed):
    first, last = committed.cells[0], committed.cells[-1]
    assert first.source.startswith("# ")
    assert "## Next\n" in last.source
    for cell in code_cells(committed):
        assert cell.source.count("\n") < 13, f"split this cell: {cell.source}"
    assert committed.metadata.kernelspec.name == "python3"


def test_links_of_a_notebook_lead_to_files_that_exist(committed):
    for cell in committed.cells:
        if cell.cell_type == "markdown":
            for link in re.findall(r"\]\((?!https?:)([^)#]+)", cell.source):
                assert (TUTORIALS / link).exists() or link.startswith("../"), link
