"""Table of the environments of the peers, with versions and errors."""

from typing import Any

from benchmarks.markdown import table
from benchmarks.peers import PEERS

DEPENDENCIES = (
    "numpy",
    "scipy",
    "numba",
    "gensim",
    "mkl",
    "sparse-dot-mkl",
    "scikit-learn",
    "torch",
)


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    rows = []
    for name, found in results.items():
        peers = ", ".join(peer.title for peer in PEERS.values() if peer.environment == name)
        if "error" in found:
            rows.append([name, peers, f"cannot be installed: {found['error']}"])
            continue
        packages = {
            key.lower().replace("_", "-"): version for key, version in found["packages"].items()
        }
        listed = [*found.get("asked", []), *DEPENDENCIES]
        shown = dict.fromkeys(key for key in listed if key in packages)
        rows.append([name, peers, ", ".join(f"{key} {packages[key]}" for key in shown)])
    return f"""\
## The peers

The files in `benchmarks/environments` pin every peer. Peers with incompatible dependencies have
their own virtual environment. `benchmarks/results/environments.json` lists all versions.

{table(["environment", "peers", "versions"], rows).replace("---:", "---")}"""
