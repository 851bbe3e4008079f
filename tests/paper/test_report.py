"""The report of a reproduction: a self-contained page, Markdown, CSV files and figures."""

import csv
import re
from html.parser import HTMLParser

import pytest

from hopvec.paper.plot_style import panels
from hopvec.paper.report import (
    ReportFigure,
    ReportTable,
    ReproductionReport,
    Section,
    Verdict,
    format_cell,
)


def lines():
    figure, axes = panels(2)
    for axis in axes:
        axis.plot([1, 2, 3], [2, 3, 5])
    return ReportFigure("lines", "Two lines", figure, "two lines that rise")


def report():
    section = Section(
        name="times",
        title="Times & <sizes>",
        text=["What was done."],
        verdicts=[
            Verdict("It is fast.", "2 s", holds=True),
            Verdict("It is small.", "3 GB", holds=False),
            Verdict("It is best.", "Not judged: too few runs.", holds=None),
        ],
        tables=[
            ReportTable("times", "Seconds", ["name", "s"], [["a|b", 1.23456], ["c", None]], "Note.")
        ],
        figures=[lines()],
        missing=["flickr"],
    )
    return ReproductionReport("A report", ["An introduction."], [section])


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "deep" / "report"
    assert report().write(path) == path / "index.html"
    return path


class LinkCollector(HTMLParser):
    """Collects the links and images of a page."""

    def __init__(self):
        super().__init__()
        self.found, self.images = [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.found += [given[name] for name in ("src", "href") if name in given]
        if tag == "img":
            self.images.append(given)


def test_the_page_is_self_contained(directory):
    page = LinkCollector()
    page.feed((directory / "index.html").read_text())
    assert all(link.startswith(("data:", "#")) for link in page.found)
    assert "@import" not in (directory / "index.html").read_text()
    assert [image["alt"] for image in page.images] == ["two lines that rise"]


def test_text_is_escaped(directory):
    page = (directory / "index.html").read_text()
    assert "Times &amp; &lt;sizes&gt;" in page
    assert "<sizes>" not in page


def test_every_verdict_is_in_the_page_and_in_the_markdown(directory):
    for name in ("index.html", "report.md"):
        text = (directory / name).read_text()
        for word in ("✓ holds", "✗ differs", "○ not judged", "Missing: flickr"):
            assert word in text


def test_tables_are_written_as_csv_with_full_precision(directory):
    with (directory / "times.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "s"], ["a|b", "1.23456"], ["c", ""]]


def test_all_rows_of_a_markdown_table_have_the_same_number_of_cells(directory):
    lines = (directory / "report.md").read_text().splitlines()
    cells = {
        len(re.split(r"(?<!\\)\|", line)) for line in lines if "a\\|b" in line or "| c |" in line
    }
    assert cells == {4}


def test_the_same_report_gives_the_same_bytes(directory, tmp_path):
    report().write(tmp_path / "again")
    for path in directory.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_figures_are_not_blank(directory):
    from matplotlib.image import imread

    pixels = imread(directory / "lines.png")
    assert pixels.shape[1] > 1000
    assert (pixels[:, :, :3] < 0.9).any(axis=2).mean() > 0.005
    assert (directory / "lines.svg").read_text().startswith("<?xml")


def test_a_figure_with_a_large_svg_is_written_as_png_only(tmp_path, monkeypatch):
    report().write(tmp_path)
    assert (tmp_path / "lines.svg").exists()
    monkeypatch.setattr("hopvec.paper.report.MAX_SVG_BYTES", 1000)
    report().write(tmp_path)
    assert not (tmp_path / "lines.svg").exists()
    assert (tmp_path / "lines.png").exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("x", "x"),
        (1234567, "1,234,567"),
        (1234.4, "1,234"),
        (12.345, "12.35"),
        (0.01234, "0.0123"),
    ],
)
def test_cells_are_formatted_for_readers(value, text):
    assert format_cell(value) == text
