"""The benchmarks: scripts/bench, or python -m benchmarks once all is installed.

Each part is a process of its own, so that the memory of one does not count as another's.
"""

import argparse
import subprocess
import sys

from benchmarks import render
from benchmarks.processes import ROOT, say

PARTS = {
    "core": "benchmarks.core",
    "files": "benchmarks.files",
    "limit": "benchmarks.limit",
    "quality": "benchmarks.quality",
    "new_nodes": "benchmarks.new_nodes",
}


def main() -> int:
    """Run the parts that were asked for, then write the tables; 1 if a part failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="core, no 200k graph, one round")
    parser.add_argument("--only", action="append", help=f"{', '.join(PARTS)}, or a graph of core")
    parser.add_argument("--repeats", type=int, help="rounds")
    parser.add_argument("--large-repeats", type=int, help="rounds of what takes long")
    parser.add_argument("--all-peers", action="store_true", help="scipy and MKL at 200k too: slow")
    args = parser.parse_args()
    graphs = [name for name in args.only or [] if name not in PARTS]
    parts = [name for name in args.only or [] if name in PARTS]
    if graphs or args.quick:
        parts = ["core"]
    failed = [part for part in parts or PARTS if run(part, arguments(args, part, graphs)) != 0]
    if not (graphs or args.quick):
        render.publish()
    for part in failed:
        say(f"{part} failed")
    return 1 if failed else 0


def arguments(args: argparse.Namespace, part: str, graphs: list[str]) -> list[str]:
    """The options that go on to a part."""
    given = {"--repeats": args.repeats, "--large-repeats": args.large_repeats}
    if part in ("quality", "new_nodes"):  # their shuffles are their rounds
        return []
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    if part == "core":
        options += [f"--only={name}" for name in graphs]
        options += ["--quick"] * args.quick + ["--all-peers"] * args.all_peers
    return options


def run(part: str, options: list[str]) -> int:
    """The exit code of a part."""
    say(part)
    return subprocess.run([sys.executable, "-m", PARTS[part], *options], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
