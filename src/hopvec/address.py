"""Address: where a database is, such as postgresql://host/database or sqlite:file.db.

The credentials in an address are never shown: messages and reports contain `Address.shown`, and
the messages of drivers pass through `Address.scrub`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

from hopvec.credentials import HIDDEN, scrub
from hopvec.errors import FormatError

DATABASES = {"postgresql": "PostgreSQL", "duckdb": "DuckDB", "sqlite": "SQLite"}
ALIASES = {"postgres": "postgresql"}
SHOWN_PARAMETERS = ("host", "hostaddr", "port", "dbname", "service")
SECRET_PARAMETERS = ("password", "sslpassword", "passfile", "user")
IN_MEMORY = ":memory:"
CONNECT_SECONDS = 15
USER_OF_MESSAGE = re.compile(r"(?:for )?\b(user|role) \"[^\"]*\"")


@dataclass(frozen=True)
class Address:
    """The address of a database."""

    kind: str
    """A key of DATABASES."""
    location: str
    """A path, or the URI of a server, which may contain credentials."""

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def database(self) -> str:
        """The name of the database system."""
        return DATABASES[self.kind]

    @property
    def shown(self) -> str:
        """The address without credentials, for messages and reports."""
        if self.kind != "postgresql":
            return f"{self.kind}:{self.location}"
        rest, _, query = self.location.partition("://")[2].partition("?")
        parameters = [
            f"{name}={quote(value, safe='/:')}"
            for name, value in parse_qsl(query)
            if name in SHOWN_PARAMETERS
        ]
        shown = f"postgresql://{rest.rpartition('@')[2]}"
        return "?".join([shown, *filter(None, ["&".join(parameters)])])

    @property
    def path(self) -> Path | None:
        """The file of the database; None for a server and for a database in memory."""
        is_file = self.kind != "postgresql" and self.location != IN_MEMORY
        return Path(self.location) if is_file else None

    def with_timeout(self) -> str:
        """The URI of a server, with a limit for the time to connect unless there is one."""
        if "connect_timeout" in self.location or "PGCONNECT_TIMEOUT" in os.environ:
            return self.location
        separator = "&" if "?" in self.location else "?"
        return f"{self.location}{separator}connect_timeout={CONNECT_SECONDS}"

    def scrub(self, message: str) -> str:
        """The message of a driver in one line, without credentials."""
        for secret in self._secrets():
            message = message.replace(secret, HIDDEN)
        message = USER_OF_MESSAGE.sub(lambda found: f"for this {found[1]}", scrub(message))
        return " ".join(message.split()).rstrip(". ")

    def _secrets(self) -> list[str]:
        """The passwords of the address and of the environment, longest first."""
        rest, _, query = self.location.partition("://")[2].partition("?")
        found = {os.environ.get("PGPASSWORD", "")}
        if self.kind == "postgresql":
            found.add(rest.rpartition("@")[0].partition(":")[2])
            found |= {value for name, value in parse_qsl(query) if name in SECRET_PARAMETERS}
        found |= {unquote(secret) for secret in found}
        return sorted(filter(None, found), key=len, reverse=True)


def is_address(text: object) -> bool:
    """Whether a string is the address of a database rather than a path."""
    return isinstance(text, str) and _kind(text) in DATABASES


def parse_address(text: str) -> Address:
    """Parse the address of a database; raise FormatError if it is not one.

    >>> parse_address("postgresql://me:secret@host:5432/graph")
    Address('postgresql://host:5432/graph')
    >>> parse_address("sqlite:graph.db").path
    PosixPath('graph.db')
    """
    kind, rest = _kind(text), text.partition(":")[2]
    if kind not in DATABASES or not rest:
        raise FormatError(
            "A connection is the address of a database: postgresql://host/database, "
            "duckdb:file.db or sqlite:file.db."
        )
    if kind != "postgresql":
        return Address(kind, rest)
    if not rest.startswith("//"):
        raise FormatError("The address of a PostgreSQL database is postgresql://host/database.")
    _check_encoding(rest)
    return Address(kind, f"postgresql:{rest}")


def shown_address(text: str) -> str:
    """A path unchanged, or an address without credentials."""
    return parse_address(text).shown if is_address(text) else text


def _kind(text: str) -> str:
    kind = text.partition(":")[0].lower() if ":" in text else ""
    return ALIASES.get(kind, kind)


def _check_encoding(rest: str) -> None:
    """Raise FormatError if a user name or a password has characters that end it early.

    PostgreSQL would take parts of the password for a host or a port, and print them.
    """
    before, _, query = rest.removeprefix("//").partition("?")
    user_info = before.rpartition("@")[0]
    if "@" in query or re.search(r"[/@#?\s]|%(?![0-9A-Fa-f]{2})", user_info):
        raise FormatError(
            "The user name or the password in the address contains a character such as @, / or %, "
            "which must be percent-encoded (%40, %2F, %25). It is safer to leave out the password "
            "and store it in ~/.pgpass or PGPASSWORD."
        )
