"""The command line: one file a verb, which parses, calls the library and prints."""

import sys

NEEDED = ("click", "rich")


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    try:
        from hopvec.cli.program import hopvec
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        print("the command line needs the cli extra: pip install 'hopvec[cli]'.", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    hopvec.main(prog_name="hopvec")
