"""Runs a command on a pseudo-terminal."""

import os
import re
import sys


def run_on_terminal(arguments, directory, typed=b""):
    """The exit code and output of a command on a terminal, without escape sequences."""
    code, written = raw_run_on_terminal(arguments, directory, typed)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)


def raw_run_on_terminal(arguments, directory, typed=b""):
    """The exit code and output of a command on a terminal."""
    import pty

    child, descriptor = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-m", "hopvec", *arguments])
    os.write(descriptor, typed)
    written = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            break
        if not part:
            break
        written += part
    _, status = os.waitpid(child, 0)
    os.close(descriptor)
    return os.waitstatus_to_exitcode(status), written.decode()
