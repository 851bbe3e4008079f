"""Run the benchmarks: scripts/bench, or python -m benchmarks with hopvec installed.

Each part runs in a separate process, so that their memory is measured separately.
"""

import argparse
import subprocess
import sys

from benchmarks.processes import ROOT, log

PARTS = {
    "core": ("--quick", "--repeats", "--large-repeats"),
    "methods": ("--quick", "--repeats"),
    "files": ("--quick", "--repeats", "--large-repeats"),
    "scaling": ("--quick", "--repeats"),
    "limit": ("--quick", "--repeats"),
    "ablation": ("--quick",),
    "products": ("--repeats",),
    "neighbors": ("--repeats",),
    "approximate": (),
    "quality": (),  # repeats itself with several shuffles
    "new_nodes": (),
    "relations": (),
    "recommend": (),
    "memory_limits": ("--quick",),
    "postgres": ("--quick", "--repeats"),
    "explorer": (),
    "large": ("--quick",),
    "growth": ("--quick",),
}
"""The parts, and the options that they support."""
OPTIONAL = ("large", "growth")  # run with --only
QUICK = ("core", "methods", "files", "scaling", "limit")


def main() -> int:
    """Run the selected parts, then render page and tables; returns 1 if a part failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="small graphs, one round; renders a preview"
    )
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="run this part only; can be repeated"
    )
    parser.add_argument("--repeats", type=int, help="rounds")
    parser.add_argument("--large-repeats", type=int, help="rounds for large graphs")
    args = parser.parse_args()
    if args.quick:
        args.repeats, args.large_repeats = args.repeats or 1, args.large_repeats or 1
    whole = [part for part in PARTS if part not in OPTIONAL]
    parts = args.only or (QUICK if args.quick else whole)
    slow = [part for part in parts if args.quick and "--quick" not in PARTS[part]]
    if slow:
        parser.error(f"{slow[0]} does not support --quick")
    run("environments", [])
    failed = [part for part in parts if run(part, options(args, part)) != 0]
    run("render", ["--quick"] * args.quick)
    for part in failed:
        log(f"{part} failed")
    return 1 if failed else 0


def options(args: argparse.Namespace, part: str) -> list[str]:
    """The options that are passed to a part."""
    given = {"--repeats": args.repeats, "--large-repeats": args.large_repeats}
    taken = [f"{name}={value}" for name, value in given.items() if value and name in PARTS[part]]
    return taken + ["--quick"] * (args.quick and "--quick" in PARTS[part])


def run(part: str, options: list[str]) -> int:
    """Run a part; returns its exit code."""
    log(part)
    command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{part}", *options]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
