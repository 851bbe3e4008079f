"""The command line: one file a verb, which parses, calls the library and prints."""

import atexit
import gc
import sys
from importlib.util import find_spec

NEEDED = ("click", "rich")


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    if not all(find_spec(package) for package in NEEDED):
        print("the command line needs the cli extra: pip install 'hopvec[cli]'.", file=sys.stderr)
        sys.exit(2)
    try:
        from hopvec.cli.program import hopvec
    except KeyboardInterrupt:
        print("Stopped; nothing was written.", file=sys.stderr)
        sys.exit(130)
    atexit.register(gc.freeze)  # what is left goes with the process, unsearched
    hopvec.main(prog_name="hopvec")
