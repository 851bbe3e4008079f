"""Fixtures for the explorer: explorations, clients, servers and browsers."""

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # explored and browsing are imported by name

import browsing
import explored
from starlette.testclient import TestClient

from hopvec.view.explorer import Exploration
from hopvec.view.explorer.guard import HEADER, PLAIN
from hopvec.view.explorer.server import LOCAL, guarded

PORT = 8765


@pytest.fixture(scope="session")
def exploration():
    """One embedding with its labels and graph."""
    return Exploration.from_embeddings(
        {"planted": explored.embedding()},
        labels=explored.labels(),
        graph=explored.graph(),
        layout="pca",
    )


@pytest.fixture(scope="session")
def comparison():
    """Two embeddings of the same nodes."""
    both = {"one": explored.embedding(), "two": explored.embedding(seed=1)}
    return Exploration.from_embeddings(both, labels=explored.labels(), layout="pca")


@pytest.fixture(scope="session")
def client(exploration):
    """A client that sends the headers of the page."""
    app = guarded(exploration, LOCAL, PORT, None)
    return TestClient(app, base_url=f"http://{LOCAL}:{PORT}", headers={HEADER: PLAIN})


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browsing.CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(exploration):
    """The URL of an exploration of one embedding."""
    with browsing.served(exploration) as address:
        yield address


@pytest.fixture(scope="session")
def compared_address(comparison):
    """The URL of an exploration of two embeddings."""
    with browsing.served(comparison) as address:
        yield address


@pytest.fixture
def serve():
    """Starts servers, and stops them after the test."""
    with ExitStack() as servers:
        yield lambda *what, **how: servers.enter_context(browsing.served(*what, **how))


@pytest.fixture
def visit(browser, serve):  # serve first: no server may end before the visits to it
    """Starts visits; none may have errors or requests to other hosts."""
    begun = []

    def begin(address, **context):
        begun.append(browsing.Visit(browser, address, **context))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()
