"""Fixtures for the tests of graph formats."""

import pytest

from graph_files import COMPRESS, WEIGHT, WRITERS


@pytest.fixture
def written(tmp_path):
    """Writes the example graph to a file, whose name decides on the format."""

    def write_file(name, compression="", weight=WEIGHT):
        write = next(write for (_, other), write in WRITERS.items() if other == name)
        write(tmp_path / name, weight)
        path = tmp_path / (name + compression)
        path.write_bytes(COMPRESS[compression]((tmp_path / name).read_bytes()))
        return path

    return write_file
