"""download: a file of the web, resumed where it was cut off, and there whole or not at all."""

from __future__ import annotations

import http.client
import logging
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from hopvec.datasets.checksum import BLOCK, note, note_of, noted, sha256_of
from hopvec.datasets.part import Origin, Part, locked_part
from hopvec.errors import DatasetError, HopvecError
from hopvec.formats.destination import check_space
from hopvec.machine import format_bytes
from hopvec.progress import Progress, no_progress

logger = logging.getLogger("hopvec")

SCHEMES = ("http", "https")
TRANSIENT_STATUS = frozenset(
    {408, 425, 429}
)  # with all from 500 on, answers that may be others next time
LONGEST = 60.0  # seconds between two tries
CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


def download(
    address: str,
    destination: str | PathLike[str],
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    timeout: float = 60.0,
    attempts: int = 5,
    pause: float = 1.0,
) -> Path:
    """The file of an http or https address, at `destination`.

    The bytes go to NAME.part beside it, which takes the name when all are there and their sum is
    right. If the connection is cut, nothing arrives for `timeout` seconds, or the server is
    overloaded, it is tried again: up to `attempts` times without a byte gained, after `pause`, 2
    `pause`, 4 `pause` ... seconds. Only the missing bytes are asked for, now or in a later run, and
    only if the server vouches (ETag or Last-Modified) that they are of the same file; else it
    begins anew. Of two processes, one waits for the other.

    Without `sha256`, the sum of the first download is noted in NAME.sha256, and every later one
    must have it too. A file that is there already is checked and left as it is. `progress` is
    called with the bytes that are there and those of the whole, 0 where that is not known.

    Raises DatasetError with the address: what the server answers, a wrong sum (the bytes are
    removed), a disk that is full (they are kept).
    """
    destination = Path(destination)
    progress = progress or no_progress
    if urlsplit(address).scheme not in SCHEMES:
        raise DatasetError(f"{address}: files come from http and https addresses only.")
    if destination.exists():
        return _checked(destination, sha256, progress)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with locked_part(destination) as part:
            if destination.exists():  # the process that this one has waited for was faster
                return _checked(destination, sha256, progress)
            part.recall(address, progress)
            transfer = _Transfer(address, destination, part, progress, timeout)
            transfer.run(attempts, pause)
            _accept(address, destination, part, sha256)
    except OSError as error:
        if isinstance(error, HopvecError):
            raise
        raise DatasetError(
            f"{destination}: cannot be written ({error.strerror or error})."
        ) from error
    return destination


def _checked(destination: Path, sha256: str | None, progress: Progress) -> Path:
    """A file that is there already, if it is the right one."""
    expected = sha256 or noted(destination)
    if expected and (found := sha256_of(destination, progress)) != expected:
        raise DatasetError(
            f"{destination}: it is there, but its sha256 is {found} and should be {expected}. "
            "Delete it, and it is downloaded again."
        )
    return destination


def _accept(address: str, destination: Path, part: Part, sha256: str | None) -> None:
    """Gives the bytes their name if they have the sum they should have, else deletes them."""
    found, first = part.digest.hexdigest(), noted(destination)
    expected = sha256 or first
    if expected and found != expected:
        part.remove()
        why = "" if sha256 else f" If it was changed on purpose, delete {note_of(destination)}."
        whose = "should be" if sha256 else "was, when it was first downloaded,"
        raise DatasetError(
            f"{address}: the sha256 of what arrived ({format_bytes(part.size)}) is {found} and "
            f"{whose} {expected}. It was removed.{why}"
        )
    if not expected:
        note(destination, found)
    part.finish()


class _TryAgainError(Exception):
    """What may go better next time, in words."""


class _Transfer:
    """The bytes of one address on their way into a Part."""

    def __init__(
        self, address: str, destination: Path, part: Part, progress: Progress, timeout: float
    ) -> None:
        self.address, self.destination, self.part = address, destination, part
        self.progress, self.timeout = progress, timeout

    def run(self, attempts: int, pause: float) -> None:
        """Tries until all bytes are there, or too often in vain."""
        furthest, failures = self.part.size, 0
        while not self.part.whole:
            try:
                self._fetch()
                return
            except _TryAgainError as error:
                failures = 1 if self.part.size > furthest else failures + 1
                furthest = max(furthest, self.part.size)
                if failures >= attempts:
                    raise self._refusal(f"{error}, {attempts} times in a row") from error
                wait = min(pause * 2 ** (failures - 1), LONGEST)
                logger.info("%s: %s; trying again in %.3g s.", self.address, error, wait)
            time.sleep(wait)

    def _fetch(self) -> None:
        """Asks for the missing bytes, or for all of them, and takes what comes."""
        part, headers = self.part, {}
        if part.validator:
            headers = {"Range": f"bytes={part.size}-", "If-Range": part.validator}
        with (
            self._told(),
            _opener().open(
                request.Request(self.address, headers=headers), timeout=self.timeout
            ) as response,
        ):
            if response.status == http.client.PARTIAL_CONTENT:
                self._refuse_other_bytes(response)
            else:
                part.begin(Origin(self.address, _validator(response), response.length))
            check_space(self.destination, part.of - part.size)
            self.progress(part.size, part.of)
            while block := response.read1(BLOCK):
                part.write(block)
                self.progress(part.size, part.of)
            if part.of and not part.whole:
                raise http.client.IncompleteRead(b"")

    def _refuse_other_bytes(self, response: http.client.HTTPResponse) -> None:
        """Begins anew if what comes is not the rest of the same file."""
        found = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        same = (
            found is not None
            and int(found[1]) == self.part.size
            and found[2] in ("*", str(self.part.of))
            and _validator(response) in (None, self.part.validator)
        )
        if not same:
            self.part.forget()
            raise _TryAgainError("the server sends other bytes than those asked for")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Faults of the network in words: those that may pass, and those that will not."""
        try:
            yield
        except HTTPError as error:
            error.close()
            what = f"the server answers {error.code} {error.reason}".rstrip()
            if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                self.part.forget()  # the file is shorter now
            elif error.code < 500 and error.code not in TRANSIENT_STATUS:
                raise self._refusal(what) from error
            raise _TryAgainError(what) from error
        except HopvecError:
            raise
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise self._refusal(f"its certificate is refused ({reason})") from error
            if isinstance(reason, TimeoutError):
                raise _TryAgainError(f"nothing came for {self.timeout:g} s") from error
            if isinstance(error, URLError):
                raise _TryAgainError(f"the server cannot be reached ({reason})") from error
            arrived = format_bytes(self.part.size)
            of = f" of {format_bytes(self.part.of)}" if self.part.of else ""
            raise _TryAgainError(f"the connection was cut after {arrived}{of}") from error

    def _refusal(self, what: str) -> DatasetError:
        """The error that ends the download: what happened, and what to do."""
        if self.part.validator:
            kept = f"The first {format_bytes(self.part.size)} are kept in {self.part.path}"
            advice = f"{kept}: the next try goes on from there."
        else:
            advice = f"If you can get the file elsewhere, put it at {self.destination}."
        return DatasetError(f"{self.address}: {what}. {advice}")


def _validator(response: http.client.HTTPResponse) -> str | None:
    """What the server says to know this version of the file by; a weak ETag does not count."""
    tag: str | None = response.headers.get("ETag")
    changed: str | None = response.headers.get("Last-Modified")
    return tag if tag and not tag.startswith("W/") else changed


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirects, but not out of https."""

    def redirect_request(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise DatasetError(f"{req.full_url}: it leads to {newurl}, which is not encrypted.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    """What opens http and https addresses and no others, wherever it is led."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPErrorProcessor(),
        request.HTTPDefaultErrorHandler(),
        request.UnknownHandler(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", f"hopvec/{version('hopvec')}")]
    return opener
