"""What a command shows to people, who sit at a terminal."""

import os
import re
import sys


def seen_on_terminal(words, folder, typed=b""):
    """What a command writes to a terminal, without colors and movements of the cursor."""
    import pty

    child, descriptor = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-m", "hopvec", *words])
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
    return os.waitstatus_to_exitcode(status), re.sub(
        r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode()
    )
