"""`hopvec data`: lists and downloads datasets."""

import json
import os
import signal
import time
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from file_server import Fault, FileServer
from hopvec import read_graph
from hopvec.cli import data as command
from hopvec.datasets import debian, debian_edges
from hopvec.datasets.catalog import File, catalog

CONTENT = bytes(range(256)) * 1024


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPVEC_DATA", str(tmp_path / "graphs"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "graphs"


@pytest.fixture
def flickr(monkeypatch):
    """A server of flickr.mat, and a catalog that refers to it."""
    server = FileServer(CONTENT)
    files = (File("flickr.mat", url=server.url),)
    monkeypatch.setitem(catalog(), "flickr", replace(catalog()["flickr"], files=files))
    yield server
    server.stop()


class TestList:
    def test_it_lists_datasets_and_their_state(self, run, directory):
        (directory / "flickr").mkdir(parents=True)
        (directory / "flickr" / "flickr.mat").write_bytes(bytes(1234))
        result = run("data", "list")
        assert result.exit_code == 0, result.stderr
        rows = dict(line.split("\t", 1) for line in result.stdout.splitlines())
        assert list(rows) == list(catalog())
        assert rows["flickr"] == "1.23 kB\t80,513\t5,899,882\t195"
        assert rows["youtube"].startswith("download\t")
        assert rows["debian-packages"].startswith("bundled\t")
        assert rows["cora"].startswith("manual\t")

    def test_another_directory_can_be_given(self, run, tmp_path):
        (tmp_path / "other" / "cora").mkdir(parents=True)
        (tmp_path / "other" / "cora" / "cora.mat").write_bytes(bytes(10))
        assert "cora\t10 B\t2,708\t5,278\t7" in run("data", "list", "--data", "other").stdout

    def test_its_json_has_all_details(self, run):
        answer = {
            entry["name"]: entry for entry in json.loads(run("data", "list", "--json").stdout)
        }
        assert answer["blogcatalog"]["published"]["edges"] == 333_983
        assert answer["blogcatalog"]["installed"] is False
        assert answer["debian-packages"]["installed"] is True
        assert len(answer["www-10k"]["urls"]) == 3

    def test_on_a_terminal_it_prints_a_table(self, run, monkeypatch):
        monkeypatch.setattr(command, "is_terminal", lambda: True)
        result = run("data", "list", "--data", "x")
        assert result.stdout.startswith("Datasets in x")
        assert "download" in result.stdout

    def test_it_takes_no_names(self, run):
        result = run("data", "list", "flickr")
        assert result.exit_code == 2
        assert "list takes no names, got 'flickr'." in result.stderr


class TestWrite:
    def test_it_writes_the_edges_of_a_dataset_with_names(self, run, tmp_path):
        result = run("data", "write", "debian-packages", "-o", str(tmp_path / "edges.csv"))
        assert result.exit_code == 0, result.stderr
        assert "294,758 edges" in result.stderr
        written, bundled = read_graph(tmp_path / "edges.csv"), debian().graph
        assert (written.edges, written.nodes) == (bundled.edges, bundled.nodes - bundled.isolated)

    def test_relations_are_a_column(self, run, tmp_path):
        path = tmp_path / "edges.parquet"
        result = run("data", "write", "debian-packages", "--relations", "-o", str(path), "--json")
        assert json.loads(result.stdout) == {"debian-packages": str(path)}
        assert pq.read_table(path).equals(debian_edges())

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["write", "debian-packages"], "Name one dataset and the output file"),
            (["write", "-o", "edges.csv"], "Name one dataset and the output file"),
            (["write", "cora", "--relations", "-o", "edges.csv"], "cora has no relations; only"),
            (["write", "debian-package", "-o", "edges.csv"], "Did you mean 'debian-packages'?"),
            (["write", "debian-packages", "-o", "edges.npy"], "is not a format for tables"),
            (["get", "cora", "-o", "edges.csv"], "get takes no --output; only write does."),
            (["list", "--relations"], "list takes no --relations; only write does."),
        ],
    )
    def test_arguments_that_do_not_fit_are_refused(self, run, tmp_path, arguments, message):
        result = run("data", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not list(tmp_path.glob("edges.*"))


class TestGet:
    def test_it_prints_the_directory_license_and_citation(self, run, flickr, directory):
        result = run("data", "get", "flickr")
        assert result.exit_code == 0, result.stderr
        assert result.stdout == f"{directory / 'flickr'}\n"
        assert "License: none stated. Cite L. Tang, H. Liu" in result.stderr
        assert (directory / "flickr" / "flickr.mat").read_bytes() == CONTENT

    def test_several_datasets_as_json(self, run, flickr, tmp_path):
        result = run("data", "get", "flickr", "debian-packages", "--data", "other", "--json")
        answer = json.loads(result.stdout)
        assert list(answer) == ["flickr", "debian-packages"]
        assert (tmp_path / answer["flickr"] / "flickr.mat").read_bytes() == CONTENT

    def test_an_error_is_one_sentence_with_the_url(self, run, flickr):
        flickr.faults = [Fault(status=404)]
        result = run("data", "get", "flickr")
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"{flickr.url}: the server responded with 404 Not Found. ")
        assert result.stderr.count("\n") == 1

    def test_names_are_checked_before_the_first_download(self, run, flickr):
        result = run("data", "get", "flickr", "flikr")
        assert result.exit_code == 2
        assert result.stderr == "There is no dataset 'flikr'. Did you mean 'flickr'?\n"
        assert flickr.requests == []

    def test_without_a_name_the_error_has_an_example(self, run):
        result = run("data", "get")
        assert result.exit_code == 2
        assert "such as hopvec data get flickr." in result.stderr

    def test_the_shell_completes_names(self, run):
        arguments = {"_HOPVEC_COMPLETE": "bash_complete", "COMP_WORDS": "hopvec data get fl"}
        result = run(env=arguments | {"COMP_CWORD": "3"}, prog_name="hopvec")
        assert "plain,flickr" in result.stdout

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for another process")
    def test_an_interrupted_download_is_resumed_by_the_same_command(
        self, process, flickr, directory, run
    ):
        flickr.pace = 0.05
        code = (
            "from dataclasses import replace\n"
            "from hopvec.cli import main\n"
            "from hopvec.datasets.catalog import File, catalog\n"
            f"files = (File('flickr.mat', url={flickr.url!r}),)\n"
            "catalog()['flickr'] = replace(catalog()['flickr'], files=files)\n"
            "main()"
        )
        download = process("data", "get", "flickr", program=["-c", code])
        part = directory / "flickr" / "flickr.mat.part"
        end = time.monotonic() + 20
        while not (part.exists() and part.stat().st_size > 50_000) and time.monotonic() < end:
            time.sleep(0.02)
        download.send_signal(signal.SIGINT)
        stdout, stderr = download.communicate(timeout=10)
        assert (download.returncode, stdout) == (130, "")
        assert stderr == "Stopped; run the same command again to resume the download.\n"
        kept = part.stat().st_size
        flickr.pace = 0
        assert run("data", "get", "flickr").exit_code == 0
        assert flickr.requested_ranges == [None, f"bytes={kept}-"]
        assert (directory / "flickr" / "flickr.mat").read_bytes() == CONTENT
