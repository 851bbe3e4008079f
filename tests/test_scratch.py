"""Scratch: files without a name."""

import numpy as np
import pytest

from hopvec import FormatError
from hopvec.scratch import Scratch


def test_a_scratch_file_that_is_cut_short_is_told_rather_than_read_forever():
    scratch, numbers = Scratch(), np.arange(10, dtype=np.int64)
    scratch.append(numbers)
    scratch.read(0, numbers)
    scratch._file.truncate(48)
    with pytest.raises(FormatError, match="a file in it ends 32 bytes too early"):
        scratch.read(0, numbers)
