"""Spill files: temporary storage on disk."""

import numpy as np
import pytest

from hopvec import FormatError
from hopvec.spill import SpillArray, SpillFile


def test_a_truncated_spill_file_is_an_error_rather_than_an_endless_read():
    spill, numbers = SpillFile(), np.arange(10, dtype=np.int64)
    spill.append(numbers)
    spill.read(0, numbers)
    spill._file.truncate(48)
    with pytest.raises(FormatError, match="a file in it ends 32 bytes too early"):
        spill.read(0, numbers)


@pytest.mark.parametrize("make", [SpillFile, lambda d: SpillArray(np.int32, 0, d).append(ONE)])
def test_an_unwritable_directory_is_named_with_the_remedy(tmp_path, make):
    missing = tmp_path / "missing"
    with pytest.raises(FormatError) as error:
        make(missing)
    assert str(error.value) == (
        f"The spill directory {missing}: cannot be written (No such file or directory). "
        "Choose another one with spill_dir=, or set TMPDIR."
    )


@pytest.mark.parametrize("limit", [None, 0, 100, 1 << 20])
def test_a_spill_array_has_the_same_values_in_memory_and_in_a_file(tmp_path, limit):
    array = SpillArray(np.float32, limit, tmp_path)
    for first in range(0, 100_000, 1000):
        array.append(np.arange(first, first + 1000))
    assert len(array) == 100_000
    assert isinstance(array.array(), np.memmap) == (limit in (0, 100))
    assert array.array().dtype == np.float32
    assert (array.array() == np.arange(100_000)).all()
    assert not list(tmp_path.iterdir())


ONE = np.ones(1, np.int32)
