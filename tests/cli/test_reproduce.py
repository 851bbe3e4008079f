"""`hopvec reproduce` on the command line."""

from hopvec.paper import ITEMS


def test_the_help_names_every_item(run):
    text = run("reproduce", "--help").stdout
    assert all(f"{item}  " in text for item in ITEMS)


def test_the_result_is_the_path_of_the_page(run, tmp_path):
    (tmp_path / "data").mkdir()
    result = run("reproduce", "projection", "--data", "data", "--out", "there")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == "there/index.html"
    assert "Missing: cora" in (tmp_path / "there" / "report.md").read_text()


def test_an_unknown_item_is_rejected_with_a_list_of_items(run, tmp_path):
    result = run("reproduce", "table9")
    assert result.exit_code == 2
    assert "scalability" in result.stderr
    assert not (tmp_path / "report").exists()


def test_an_output_that_cannot_be_a_directory_is_refused_before_the_work(run, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "taken").write_text("a file")
    result = run("reproduce", "projection", "--data", "data", "--out", "taken/report")
    assert result.exit_code == 2
    assert "report: cannot create this directory (" in result.stderr


def test_a_missing_data_directory_is_rejected(run, tmp_path):
    result = run("reproduce", "--data", "none")
    assert result.exit_code == 2
    assert result.stderr.startswith("none: this directory does not exist.")
    assert not (tmp_path / "report").exists()
