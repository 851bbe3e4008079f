"""Stages of a run: their errors. No session is needed."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from pyspark.errors import PythonException

from hopvec import MissingExtraError
from hopvec.spark.tables import Tables


def failing(message):
    def action():
        raise PythonException(message)

    return action


@pytest.fixture
def tables():
    settings = {}
    conf = SimpleNamespace(get=lambda name: settings.get(name, ""), set=settings.__setitem__)
    backend = SimpleNamespace(stage=lambda name: nullcontext())
    return Tables(SimpleNamespace(conf=conf), backend, "/spill")


def test_workers_without_hopvec_give_an_error_that_says_where_to_install_it(tables):
    action = failing("Traceback ...\nModuleNotFoundError: No module named 'hopvec'\n")
    with pytest.raises(MissingExtraError, match=r"Install it there, or start .* PYSPARK_PYTHON"):
        tables.run("merge edges", action)


def test_other_errors_of_workers_are_not_changed(tables):
    with pytest.raises(PythonException, match="No module named 'numpy'"):
        tables.run("merge edges", failing("ModuleNotFoundError: No module named 'numpy'"))
