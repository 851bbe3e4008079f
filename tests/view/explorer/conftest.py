"""What the tests of the explorer share: explorations, and a client of their server."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # explored and browsing are imported by name

import explored
from starlette.testclient import TestClient

from hopvec.view.explorer import LOCAL, Exploration
from hopvec.view.explorer.guard import HEADER, PLAIN
from hopvec.view.explorer.server import guarded

PORT = 8765


@pytest.fixture(scope="session")
def exploration():
    """One embedding with its labels and graph."""
    return Exploration.of(
        {"planted": explored.embedding()},
        labels=explored.labels(),
        graph=explored.graph(),
        layout="pca",
    )


@pytest.fixture(scope="session")
def comparison():
    """Two embeddings of the same nodes."""
    both = {"one": explored.embedding(), "two": explored.embedding(seed=1)}
    return Exploration.of(both, labels=explored.labels(), layout="pca")


@pytest.fixture(scope="session")
def client(exploration):
    """Asks the explorer as its own page does."""
    app = guarded(exploration, LOCAL, PORT, None)
    return TestClient(app, base_url=f"http://{LOCAL}:{PORT}", headers={HEADER: PLAIN})
