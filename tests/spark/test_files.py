"""Files that tasks read and write directly."""

import numpy as np

from hopvec.spark import slab_files
from hopvec.spark.files import write_file
from hopvec.spark.node_blocks import CHUNK_NODES, NodeBlocks


def test_more_slabs_than_open_files_are_read_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(slab_files, "MAX_OPEN_FILES", 2)
    node_blocks = NodeBlocks(CHUNK_NODES + 5)
    slabs = [np.arange(2 * node_blocks.nodes, dtype=np.float32) + 1000 * slab for slab in range(5)]
    names = [(tmp_path / str(slab)).as_uri() for slab in range(5)]
    for name, values in zip(names, slabs, strict=True):
        write_file(name, [values])
    with slab_files.SlabFiles(names, node_blocks, 2, np.float32) as opened:
        for chunk, part in ((1, slice(2 * CHUNK_NODES, None)), (0, slice(2 * CHUNK_NODES))):
            for read, values in zip(opened.read(chunk), slabs, strict=True):
                np.testing.assert_array_equal(read, values[part])
