"""The program behind ./scripts/fuzz."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.runner import EXPECTED_OUTCOMES, Case, Finding, Fuzzer, Worker, describe
from fuzz.seeds import Seed, all_seeds

LINE_SECONDS = 30.0


def main() -> int:
    arguments = _parse()
    if arguments.reproduce:
        return _reproduce(arguments.reproduce, arguments.python)
    seeds = [seed for seed in all_seeds() if arguments.format in f"{seed.format} {seed.reader}"]
    if not seeds:
        print(f"No format is named {arguments.format!r}.", file=sys.stderr)
        return 2
    fuzzer = Fuzzer(seeds, arguments.seed, arguments.python)
    for format_, reason in fuzzer.drop_unreadable_seeds().items():
        print(f"Left out: {format_} cannot be read undamaged: {reason}", flush=True)
    begin = time.monotonic()

    def report(finding: Finding) -> None:
        directory = _store(finding, arguments.output)
        print(f"FINDING {finding.title}\n  {_command(directory)}", flush=True)

    end = begin + 60 * arguments.minutes
    done = 0
    while (left := end - time.monotonic()) > 0:
        fuzzer.run(seconds=min(LINE_SECONDS, left), first=done, jobs=arguments.jobs, report=report)
        done = sum(fuzzer.counts.values())
        minutes = (time.monotonic() - begin) / 60
        print(f"{minutes:.1f} min: {done:,} cases, {len(fuzzer.findings)} findings", flush=True)
    _print_counts(fuzzer)
    return 1 if fuzzer.findings else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./scripts/fuzz",
        description="Damage files of all formats at random; each must be read or refused.",
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="default: 10")
    parser.add_argument("--format", default="", help="only formats whose names contain this")
    parser.add_argument("--seed", type=int, default=0, help="of the cases; default: 0")
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: 1")
    parser.add_argument(
        "--python",
        default=sys.executable,
        help="an interpreter with hopvec, such as that of another version; default: this one",
    )
    parser.add_argument("--output", type=Path, default=Path("fuzz-findings"), help="for findings")
    parser.add_argument("--reproduce", type=Path, help="run a finding again: its directory")
    return parser.parse_args()


def _store(finding: Finding, output: Path) -> Path:
    """Write the files of a finding, and what happened, into a directory."""
    case = finding.case
    directory = output / f"{case.seed.reader}-{case.number}"
    directory.mkdir(parents=True, exist_ok=True)
    case.write(directory)
    content = {
        "format": case.seed.format,
        "reader": case.seed.reader,
        "name": case.seed.name,
        "options": case.seed.options,
        "round_trip": case.round_trip,
        "files": list(case.seed.files),
        **finding.outcome,
    }
    (directory / "finding.json").write_text(json.dumps(content, indent=1))
    return directory


def _command(directory: Path) -> str:
    return f"./scripts/fuzz --reproduce {shlex.quote(str(directory))}"


def _reproduce(directory: Path, python: str) -> int:
    found = json.loads((directory / "finding.json").read_text())
    files = {name: (directory / name).read_bytes() for name in found["files"]}
    seed = Seed(found["format"], found["reader"], found["name"], files, found["options"])
    with TemporaryDirectory() as temporary, Worker(python, Path(temporary)) as worker:
        outcome = worker.run(Case(0, seed, found["files"][0], found["round_trip"]))
    print(describe(outcome))
    print(outcome.get("trace", ""), end="")
    return 0 if outcome["outcome"] in EXPECTED_OUTCOMES else 1


def _print_counts(fuzzer: Fuzzer) -> None:
    for format_, count in sorted(fuzzer.counts.items()):
        print(f"{count:9,}  {format_}")
    print("outcomes: " + ", ".join(f"{n:,} {what}" for what, n in fuzzer.outcomes.most_common()))
    for finding in fuzzer.findings.values():
        print(f"{finding.count:6,} times  {finding.title}")


if __name__ == "__main__":
    sys.exit(main())
