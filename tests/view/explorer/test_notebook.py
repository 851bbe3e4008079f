"""The explorer in a notebook: a server in a thread, shown in a frame."""

import gc
import http.server
import re
import socket
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from html import escape

import browsing
import explored
import numpy as np
import pytest

from hopvec import Embedding, MissingExtraError, ParameterError
from hopvec.view import explore

SOME = 17


@pytest.fixture
def explorer():
    with explore(
        explored.embedding(), labels=explored.labels(), graph=explored.graph(), layout="pca"
    ) as running:
        yield running


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_it_serves_the_page_on_this_machine_and_requires_the_token(explorer):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", explorer.url)
    assert status(explorer.url) == 200
    plain = explorer.url.partition("?")[0]
    assert status(plain) == 403
    assert status(f"{plain}?token=other") == 403
    assert status(f"{plain}api/about") == 403


def test_it_shows_itself_in_a_frame_until_it_is_stopped(explorer):
    html = explorer._repr_html_()
    assert f'<iframe src="{escape(explorer.url)}"' in html
    assert 'height="600"' in html
    assert repr(explorer) == f"Explorer({explorer.url!r})"
    explorer.stop()
    explorer.stop()
    assert repr(explorer) == "Explorer(stopped)"
    assert explorer._repr_html_() == "<p>The explorer has stopped.</p>"
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(explorer.url, timeout=10)


def test_a_stopped_explorer_leaves_no_thread_and_its_port_is_free():
    before = threading.active_count()
    with explore(explored.embedding(), layout="pca") as explorer:
        port = int(re.search(r":(\d+)/", explorer.url)[1])
        assert status(explorer.url) == 200
    assert "hopvec explorer" not in [thread.name for thread in threading.enumerate()]
    assert threading.active_count() <= before + 1  # the thread pool of the server ends by itself
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def test_an_explorer_that_nobody_holds_keeps_running():
    url = explore(explored.embedding(), layout="pca").url
    gc.collect()
    assert status(url) == 200


def test_two_explorers_run_at_a_time(explorer):
    both = {"one": explored.embedding(), "two": explored.embedding(seed=1)}
    with explore(both, layout="pca", height=800) as other:
        assert other.url != explorer.url
        assert 'height="800"' in other._repr_html_()
        assert status(other.url) == status(explorer.url) == 200


def test_errors_name_the_argument():
    embedding = explored.embedding()
    with pytest.raises(ParameterError, match="height must be from 200 to 4,000, got 5"):
        explore(embedding, height=5)
    with pytest.raises(ParameterError, match=r"positions must have the shape \(300, 2\), got"):
        explore(embedding, positions=np.zeros((5, 2), np.float32))
    with pytest.raises(ParameterError, match="number of embeddings must be from 1 to 3, got 0"):
        explore({})
    with pytest.raises(ParameterError, match="the embedding has no nodes"):
        explore(Embedding(np.zeros((0, 3), np.float32), np.zeros(0, np.int64)))


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match="explore needs the web extra: pip install"):
        explore(explored.embedding())


@contextmanager
def notebook_page(body):
    """Serves a page of another origin, and yields its URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            page = f"<!doctype html><link rel=icon href='data:,'><h1>Notebook</h1>{body}"
            self.wfile.write(page.encode())

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            # localhost and 127.0.0.1 are different sites, so that cookies would be withheld
            yield f"http://localhost:{server.server_address[1]}/"
        finally:
            server.shutdown()


@browsing.needs_chromium
def test_it_works_in_a_frame_of_another_origin(browser, explorer):
    errors = []
    with notebook_page(explorer._repr_html_()) as address, browser.new_context() as context:
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.goto(address)
        frame = page.frame_locator("iframe")
        frame.locator("html[data-ready]").wait_for(timeout=20_000)
        frame.locator("#search").fill(f"node-{SOME}")
        frame.locator("#completions li").first.wait_for()
        frame.locator("#search").press("Enter")
        frame.locator("#panel h2", has_text=f"node-{SOME}").wait_for()
        assert frame.locator("#near .go").count() == 10
        frame.locator(".act").first.click()  # copies a table
        frame.locator("#status.shown", has_text="Copied").wait_for()
        with page.expect_download() as saving:
            frame.locator("#save").click()
        assert saving.value.suggested_filename == "neighbors.png"
    assert not errors


@browsing.needs_chromium
def test_a_page_that_does_not_know_the_token_cannot_frame_it(browser, explorer, serve, exploration):
    plain = explorer.url.partition("?")[0]
    unframed = serve(exploration)  # as by the command line
    frames = "".join(f'<iframe src="{url}"></iframe>' for url in (plain, unframed))
    with notebook_page(frames) as address, browser.new_context() as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_timeout(500)
        for frame in page.frames[1:]:
            assert "explorer" not in frame.title()
            assert frame.locator("#search").count() == 0
