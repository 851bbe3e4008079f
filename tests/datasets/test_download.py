"""Downloads from a web server that closes connections, stalls, and sends wrong data."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from downloads import CONTENT, CUT, OTHER, files, get, sha256_of
from file_server import Fault
from hopvec import DatasetError, FormatError
from hopvec.datasets import download as download_file
from hopvec.datasets.download import download


class TestCompleteDownloads:
    def test_the_file_is_written_with_its_checksum_and_nothing_else(self, serve, path):
        assert get(serve(), path) == path
        assert path.read_bytes() == CONTENT
        assert files(path) == ["graph.mat", "graph.mat.sha256"]
        assert (
            path.parent / "graph.mat.sha256"
        ).read_text() == f"{sha256_of(CONTENT)}  graph.mat\n"

    def test_a_known_checksum_is_not_recorded(self, serve, path):
        get(serve(), path, sha256=sha256_of(CONTENT))
        assert files(path) == ["graph.mat"]

    def test_progress_reports_bytes_and_reaches_the_total(self, serve, path):
        reported = []
        get(serve(), path, progress=lambda done, total: reported.append((done, total)))
        assert reported[0] == (0, len(CONTENT))
        assert reported[-1] == (len(CONTENT), len(CONTENT))
        assert reported == sorted(reported)

    def test_an_unknown_length_is_reported_as_0(self, serve, path):
        reported = []
        get(serve(length=False), path, progress=lambda done, total: reported.append((done, total)))
        assert reported[-1] == (len(CONTENT), 0)
        assert path.read_bytes() == CONTENT

    def test_an_empty_file_is_downloaded_if_its_checksum_is_known(self, serve, path):
        assert get(serve(b""), path, sha256=sha256_of(b"")).read_bytes() == b""

    @pytest.mark.parametrize("length", [True, False])
    def test_an_empty_answer_without_a_checksum_is_refused_and_not_recorded(
        self, serve, path, length
    ):
        server = serve(b"", length=length)
        with pytest.raises(DatasetError, match="the server sent an empty file"):
            get(server, path)
        assert files(path) == []
        server.content = CONTENT
        assert get(server, path).read_bytes() == CONTENT

    def test_an_existing_file_is_not_requested(self, serve, path):
        server = serve()
        get(server, path)
        assert get(server, path) == path
        assert len(server.requests) == 1

    def test_redirects_are_followed(self, serve, path):
        server, first = serve(), serve()
        first.faults, first.location = [Fault(status=302)], server.url
        get(first, path)
        assert path.read_bytes() == CONTENT

    def test_requests_have_a_user_agent(self, serve, path):
        server = serve()
        get(server, path)
        assert server.requests[0]["User-Agent"].startswith("hopvec/")


class TestResuming:
    def test_only_the_rest_is_requested_after_a_lost_connection(self, serve, path):
        server = serve()
        server.faults = [Fault(cut_after=CUT)]
        get(server, path)
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges == [None, f"bytes={CUT}-"]
        assert server.requests[1]["If-Range"] == '"1"'
        assert server.sent == len(CONTENT)

    def test_lost_connections_are_not_failed_attempts_as_long_as_bytes_arrive(self, serve, path):
        server = serve()
        server.faults = [Fault(cut_after=1000)] * 20
        get(server, path, attempts=2)
        assert path.read_bytes() == CONTENT
        assert server.sent == len(CONTENT)

    def test_a_later_run_resumes_where_an_earlier_one_gave_up(self, serve, path):
        server = serve()
        server.faults = [Fault(cut_after=CUT), *[Fault(status=503)] * 2]
        with pytest.raises(
            DatasetError, match=r"responded with 503 .*The first 300 kB are kept in .*resumes"
        ):
            get(server, path, attempts=2)
        assert files(path) == ["graph.mat.part", "graph.mat.part.json"]
        reported = []
        get(server, path, progress=lambda done, total: reported.append((done, total)))
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges[-1] == f"bytes={CUT}-"
        assert (CUT, len(CONTENT)) in reported
        assert files(path) == ["graph.mat", "graph.mat.sha256"]

    def test_the_last_modified_time_replaces_a_missing_etag(self, serve, path):
        server = serve(etag=None)
        server.last_modified = "Tue, 02 Jun 2009 10:00:00 GMT"
        server.faults = [Fault(cut_after=CUT)]
        get(server, path)
        assert server.requests[1]["If-Range"] == server.last_modified
        assert path.read_bytes() == CONTENT

    @pytest.mark.parametrize("etag", [None, 'W/"1"'], ids=["no ETag", "a weak ETag"])
    def test_the_whole_file_is_requested_again_without_a_strong_validator(self, serve, path, etag):
        server = serve(etag=etag)
        server.faults = [Fault(cut_after=CUT)]
        get(server, path)
        assert server.requested_ranges == [None, None]
        assert path.read_bytes() == CONTENT

    def test_a_server_without_ranges_sends_the_whole_file_again(self, serve, path):
        server = serve(ranges=False)
        server.faults = [Fault(cut_after=CUT)]
        get(server, path)
        assert server.requested_ranges == [None, f"bytes={CUT}-"]
        assert server.sent == CUT + len(CONTENT)
        assert path.read_bytes() == CONTENT

    def test_a_server_without_ranges_that_always_closes_the_connection_is_an_error(
        self, serve, path
    ):
        server = serve(ranges=False)
        server.faults = [Fault(cut_after=CUT)] * 10
        with pytest.raises(
            DatasetError, match=r"closed after 300 kB of 1\.05 MB, 3 times in a row"
        ):
            get(server, path, attempts=3)
        assert len(server.requests) == 3

    def test_a_changed_file_is_downloaded_from_the_start(self, serve, path):
        server = serve()

        def change():
            server.content, server.etag = OTHER, '"2"'

        server.faults = [Fault(cut_after=CUT), Fault(before=change)]
        get(server, path)
        assert path.read_bytes() == OTHER
        assert server.sent == CUT + len(OTHER)

    def test_a_file_that_changed_between_two_runs_is_downloaded_from_the_start(self, serve, path):
        server = serve()
        server.faults = [Fault(cut_after=CUT), Fault(status=500)]
        with pytest.raises(DatasetError):
            get(server, path, attempts=1)
        server.content, server.etag, server.faults = OTHER, '"2"', []
        get(server, path)
        assert path.read_bytes() == OTHER

    @pytest.mark.parametrize(
        "content_range",
        [f"bytes {CUT}-{len(CONTENT)}/{len(CONTENT) + 1}", f"bytes 0-9/{len(CONTENT)}", "bytes"],
        ids=["another length", "another start", "no range"],
    )
    def test_a_response_with_other_bytes_than_requested_is_discarded(
        self, serve, path, content_range
    ):
        server = serve()

        def use_the_true_range():
            server.content_range = None

        server.content_range = content_range
        server.faults = [Fault(cut_after=CUT), Fault(), Fault(before=use_the_true_range)]
        get(server, path)
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges == [None, f"bytes={CUT}-", None]

    def test_a_file_that_became_shorter_is_downloaded_from_the_start(self, serve, path):
        server = serve()

        def shorten():
            server.content = CONTENT[:1000]

        server.faults = [Fault(cut_after=CUT), Fault(before=shorten)]
        get(server, path)
        assert path.read_bytes() == CONTENT[:1000]

    def test_a_partial_file_of_another_url_is_ignored(self, serve, path):
        path.parent.mkdir()
        path.with_name("graph.mat.part").write_bytes(OTHER[:CUT])
        origin = {"url": "http://elsewhere/graph.mat", "validator": '"1"', "size": len(OTHER)}
        path.with_name("graph.mat.part.json").write_text(json.dumps(origin))
        server = serve()
        get(server, path)
        assert server.requested_ranges == [None]
        assert path.read_bytes() == CONTENT

    @pytest.mark.parametrize("metadata", ["", "{}", "[1]", '{"url": 1, "size": {}}', "\xff"])
    def test_a_partial_file_without_valid_metadata_is_ignored(self, serve, path, metadata):
        path.parent.mkdir()
        path.with_name("graph.mat.part").write_bytes(OTHER[:CUT])
        path.with_name("graph.mat.part.json").write_text(metadata, encoding="latin-1")
        get(serve(), path)
        assert path.read_bytes() == CONTENT

    def test_a_complete_partial_file_is_not_requested_again(self, serve, path):
        server = serve()
        path.parent.mkdir()
        path.with_name("graph.mat.part").write_bytes(CONTENT)
        origin = {"url": server.url, "validator": None, "size": len(CONTENT)}
        path.with_name("graph.mat.part.json").write_text(json.dumps(origin))
        get(server, path)
        assert server.requests == []
        assert path.read_bytes() == CONTENT


class TestChecksums:
    def test_a_wrong_checksum_is_refused_and_the_bytes_removed(self, serve, path):
        with pytest.raises(DatasetError) as caught:
            get(serve(), path, sha256=sha256_of(OTHER))
        assert str(caught.value).startswith("http://127.0.0.1:")
        assert f"is {sha256_of(CONTENT)} and should be {sha256_of(OTHER)}. The file was" in str(
            caught.value
        )
        assert files(path) == []

    def test_later_downloads_must_equal_the_first(self, serve, path):
        server = serve()
        get(server, path)
        path.unlink()
        server.content = OTHER
        with pytest.raises(DatasetError, match=r"was, in the first .* delete .*\.mat\.sha256"):
            get(server, path)
        assert files(path) == ["graph.mat.sha256"]
        server.content = CONTENT
        assert get(server, path).read_bytes() == CONTENT

    @pytest.mark.parametrize("known", [True, False])
    def test_an_existing_file_with_a_wrong_checksum_is_neither_used_nor_replaced(
        self, serve, path, known
    ):
        server = serve()
        sha256 = sha256_of(CONTENT) if known else None
        get(server, path, sha256=sha256)
        path.write_bytes(b"mine")
        with pytest.raises(DatasetError, match=r"graph\.mat: the file exists, but .* Delete it"):
            get(server, path, sha256=sha256)
        assert path.read_bytes() == b"mine"


class TestRefusals:
    def test_404_is_reported_with_the_url_and_a_remedy(self, serve, path):
        server = serve()
        server.faults = [Fault(status=404)]
        with pytest.raises(DatasetError) as caught:
            get(server, path)
        assert str(caught.value) == (
            f"{server.url}: the server responded with 404 Not Found. "
            f"If you can get the file elsewhere, copy it to {path}."
        )
        assert len(server.requests) == 1
        assert files(path) == []

    @pytest.mark.parametrize("status", [429, 500, 502, 503])
    def test_transient_errors_are_retried(self, serve, path, status):
        server = serve()
        server.faults = [Fault(status=status)] * 2
        get(server, path)
        assert len(server.requests) == 3
        assert path.read_bytes() == CONTENT

    def test_the_pause_doubles_with_every_attempt(self, serve, path, monkeypatch):
        waits = []
        monkeypatch.setattr(download_file.time, "sleep", waits.append)
        server = serve()
        server.faults = [Fault(status=503)] * 4
        get(server, path, pause=1.0)
        assert waits == [1, 2, 4, 8]

    def test_a_stalled_download_is_resumed(self, serve, path):
        server = serve()
        server.faults = [Fault(stall_after=CUT)]
        get(server, path, timeout=1.0)
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges == [None, f"bytes={CUT}-"]

    def test_a_server_that_does_not_respond_is_an_error(self, serve, path):
        server = serve()
        server.faults = [Fault(before=lambda: server.closing.wait(2))] * 2
        with pytest.raises(DatasetError, match=r"no data arrived for 0\.1 s, 2 times in a row\."):
            get(server, path, timeout=0.1, attempts=2)

    def test_an_unreachable_server_is_reported(self, serve, path):
        server = serve()
        server.stop()
        with pytest.raises(DatasetError, match=r"the server cannot be reached \(.*refused"):
            get(server, path, attempts=2)

    @pytest.mark.parametrize("url", ["ftp://a/b", "file:///etc/passwd", "graph.mat", ""])
    def test_other_schemes_are_refused(self, path, url):
        with pytest.raises(DatasetError, match="only http and https URLs"):
            download(url, path)

    @pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
    def test_redirects_to_other_schemes_are_refused(self, serve, path, location):
        server = serve()
        server.faults, server.location = [Fault(status=302)] * 2, location
        with pytest.raises(DatasetError, match=r"http://127\.0\.0\.1"):
            get(server, path, attempts=1)

    def test_a_redirect_from_https_to_http_is_refused(self):
        from urllib.request import Request

        redirects = download_file._Redirects()
        with pytest.raises(DatasetError, match="which is not encrypted"):
            redirects.redirect_request(
                Request("https://a/graph.mat"), None, 302, "Found", {}, "http://a/graph.mat"
            )


class TestDisk:
    @pytest.mark.skipif(os.name == "nt", reason="Windows does not limit the size of files")
    def test_a_full_disk_is_reported_and_the_partial_file_is_kept(self, serve, path):
        server = serve()
        code = (
            "import resource, sys\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))\n"
            "from hopvec import DatasetError\n"
            "from hopvec.datasets.download import download\n"
            "try:\n    download(*sys.argv[1:])\n"
            "except DatasetError as error:\n    sys.exit(str(error))\n"
        )
        command = [sys.executable, "-c", code, server.url, str(path)]
        finished = subprocess.run(command, capture_output=True, text=True)
        assert finished.stderr.startswith(f"{path}.part: writing failed after 5")
        assert "(File too large). Free some disk space" in finished.stderr
        assert finished.stderr.count("\n") == 1
        assert files(path) == ["graph.mat.part", "graph.mat.part.json"]
        get(server, path)
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges == [None, "bytes=500000-"]

    def test_a_file_larger_than_the_free_space_is_refused(self, serve, path, monkeypatch):
        from shutil import disk_usage

        full = disk_usage("/")._replace(free=1000)
        monkeypatch.setattr("shutil.disk_usage", lambda directory: full)
        server = serve()
        with pytest.raises(FormatError, match=r"needs about 1\.05 MB, but its disk has only 1 kB"):
            get(server, path)
        assert files(path) == []

    def test_a_directory_that_cannot_be_created_is_reported(self, serve, path):
        path.parent.write_bytes(b"")
        with pytest.raises(DatasetError, match=r"graph\.mat: cannot be written \("):
            get(serve(), path)


def test_the_checksum_file_is_valid_for_sha256sum(serve, path):
    get(serve(), path)
    tool = Path("/usr/bin/sha256sum")
    if not tool.exists():
        pytest.skip("needs sha256sum")
    command = [str(tool), "--check", "graph.mat.sha256"]
    assert subprocess.run(command, cwd=path.parent, capture_output=True).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows restricts symbolic links")
class TestPlantedFiles:
    """Files that another user of the directory has made."""

    @pytest.fixture(autouse=True)
    def directory(self, path):
        path.parent.mkdir()

    def test_a_link_in_place_of_the_part_is_not_followed(self, serve, path):
        victim = path.parent / "victim"
        victim.write_bytes(b"precious")
        path.with_name("graph.mat.part").symlink_to(victim)
        with pytest.raises(DatasetError, match=r"graph.mat.part: this is a symbolic link"):
            get(serve(), path)
        assert victim.read_bytes() == b"precious"
        assert not path.exists()

    def test_a_pipe_in_place_of_the_part_is_refused(self, serve, path):
        os.mkfifo(path.with_name("graph.mat.part"))
        with pytest.raises(DatasetError, match="this is not a regular file"):
            get(serve(), path)

    @pytest.mark.parametrize("name", ["graph.mat.part.json", "graph.mat.sha256"])
    def test_links_in_place_of_other_files_are_replaced(self, serve, path, name):
        victim = path.parent / "victim"
        victim.write_bytes(b"precious")
        path.with_name(name).symlink_to(victim)
        get(serve(), path)
        assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("url", ["http://[::1", "http://localhost:x/"])
def test_an_invalid_url_is_refused(tmp_path, url):
    with pytest.raises(DatasetError, match=r"the URL.* is invalid"):
        download(url, tmp_path / "graph.mat", pause=0.0)


def test_a_redirect_to_an_invalid_url_is_refused(serve, path):
    server = serve()
    server.faults, server.location = [Fault(status=302)], "http://[::1"
    with pytest.raises(DatasetError, match=r"the URL.* is invalid"):
        get(server, path)
