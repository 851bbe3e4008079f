"""SpillFile: files without a name."""

import numpy as np
import pytest

from hopvec import FormatError
from hopvec.spill import SpillFile


def test_a_scratch_file_that_is_cut_short_is_told_rather_than_read_forever():
    spill, numbers = SpillFile(), np.arange(10, dtype=np.int64)
    spill.append(numbers)
    spill.read(0, numbers)
    spill._file.truncate(48)
    with pytest.raises(FormatError, match="a file in it ends 32 bytes too early"):
        spill.read(0, numbers)
