"""Shared by all tests: the hypothesis profile, the published graphs, the import path."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

# Matrices are small here, and idle BLAS threads take cores away from other tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent))  # helpers are imported by name

settings.register_profile(
    "hopvec",
    deadline=None,
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("hopvec")


def pytest_collection_modifyitems(items):
    """Run the tests on Spark first: the other process runs all other tests meanwhile."""
    items.sort(key=lambda item: scope(item.nodeid) == "spark", reverse=True)  # stable


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process, and all tests on Spark in one with a cluster."""
    from xdist.scheduler import LoadScopeScheduling

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = scope
    return scheduler


def scope(nodeid):
    """What runs in one process: "spark", or a file."""
    file = nodeid.split("::")[0]
    return "spark" if Path(file).parent.name == "spark" else file


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server with pgvector; skips where it cannot start."""
    from postgres_server import NotStartedError, started

    with ExitStack() as stack:
        try:
            server = stack.enter_context(started())
        except NotStartedError as error:
            pytest.skip(f"PostgreSQL: {error}")
        yield server


@pytest.fixture
def schema(postgres):
    """The name of an empty schema of the server."""
    with postgres.schema() as name:
        yield name


@pytest.fixture(scope="session")
def data_dir():
    """The directory of published graphs: HOPVEC_DATA, else ../shared/data next to the project."""
    directory = Path(os.environ.get("HOPVEC_DATA") or ROOT.parent / "shared" / "data")
    if not directory.is_dir():
        pytest.skip(f"no published graphs at {directory}: set HOPVEC_DATA to their directory")
    return directory
