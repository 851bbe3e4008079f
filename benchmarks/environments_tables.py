"""The environments of the peers: what installs, with which versions, and what does not."""

from typing import Any

from benchmarks.markdown import table
from benchmarks.peers import PEERS

BESIDE = ("numpy", "scipy", "numba", "gensim", "mkl", "sparse-dot-mkl", "scikit-learn", "torch")


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    rows = []
    for name, found in results.items():
        peers = ", ".join(peer.title for peer in PEERS.values() if peer.environment == name)
        if "error" in found:
            rows.append([name, peers, f"does not install: {found['error']}"])
            continue
        packages = {
            key.lower().replace("_", "-"): version for key, version in found["packages"].items()
        }
        wanted = [*found.get("asked", []), *BESIDE]
        shown = dict.fromkeys(key for key in wanted if key in packages)
        rows.append([name, peers, ", ".join(f"{key} {packages[key]}" for key in shown)])
    return f"""\
## The peers

Every peer is pinned by a file in `benchmarks/environments` and lives in a virtual environment of
its own where it cannot live with the others; `results/environments.json` has all versions.

{table(["environment", "peers", "versions"], rows).replace("---:", "---")}"""
