"""Code of the documentation runs in this process, and must not change it for other tests."""

import logging

import pytest


@pytest.fixture(autouse=True)
def same_logging():
    """Restore the level and the handlers of the loggers that examples configure."""
    loggers = [logging.getLogger(name) for name in (None, "hopvec")]
    before = [(logger.level, logger.handlers[:]) for logger in loggers]
    yield
    for logger, (level, handlers) in zip(loggers, before, strict=True):
        logger.setLevel(level)
        logger.handlers[:] = handlers
    logging.disable(logging.NOTSET)
