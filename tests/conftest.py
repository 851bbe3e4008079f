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


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items):
    """Keep the tests of a file in one process, and all tests on Spark in one with a cluster.

    Those on Spark come first: the other process runs all other tests meanwhile.
    """
    for item in items:
        group = "spark" if on_spark(item) else item.path.as_posix()
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=on_spark, reverse=True)  # stable


def on_spark(item):
    return item.path.parent.name == "spark"


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
