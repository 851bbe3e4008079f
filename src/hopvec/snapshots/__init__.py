"""Snapshots: comparable embeddings of windows of time.

embed.py            embed_snapshots: one embedding per window, in the fitted state of the first
windows.py          the windows of time
stored_edges.py     the edges of the input, read once and stored in a spill file
manifest.py         what a directory of snapshots holds, so that a run can be resumed
"""

from hopvec.snapshots.embed import Snapshot, Snapshots, embed_snapshots

__all__ = ["Snapshot", "Snapshots", "embed_snapshots"]
