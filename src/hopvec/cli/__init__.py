"""The command line. Each command is a module that parses, calls the library and prints.

program.py          the table of commands, exit codes, and suggestions for misspelled arguments
address_space.py    limits of the address space
command.py          the base of all commands: help with examples, option groups, --quiet
messages.py         Python arguments in messages of the library become options
terminal.py         output: results, messages, tables, progress
summary.py          graphs, runs and parameters as rows of a report
scores.py           tables of scores, printed or written
inputs.py, feature_options.py, label_options.py, layout_options.py, method_options.py, outputs.py
                    options that several commands share
vectors_memory.py   --memory of commands that read vectors
reference.py        the earlier run that --like and `hopvec transform` refer to
link_scores.py      the link prediction of `hopvec evaluate`
on_spark.py         `hopvec embed --spark`
All other modules are commands.
"""

import atexit
import gc
import sys


def main() -> None:
    """Run the command line and exit with its exit code."""
    try:
        from hopvec.cli.program import hopvec
    except KeyboardInterrupt:
        print("Stopped; nothing was written.", file=sys.stderr)
        sys.exit(130)
    atexit.register(gc.freeze)  # the process ends anyway: skip the last garbage collection
    hopvec.main(prog_name="hopvec")
