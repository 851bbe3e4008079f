"""download: fetches a file, resumes interrupted transfers, and writes the file atomically.

pooch is not used: it has no Range requests, so an interrupted download starts from the beginning.
"""

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

from hopvec.datasets.checksum import (
    BLOCK_BYTES,
    checksum_path,
    read_checksum,
    sha256_of,
    write_checksum,
)
from hopvec.datasets.part import Origin, PartialFile, locked_part
from hopvec.errors import DatasetError, HopvecError
from hopvec.formats.destination import check_space
from hopvec.machine import format_bytes
from hopvec.progress import Progress, no_progress

logger: logging.Logger = logging.getLogger("hopvec")

SCHEMES = ("http", "https")
TRANSIENT_STATUS = frozenset({408, 425, 429})  # may succeed later, as may all from 500 on
MAX_PAUSE = 60.0  # seconds between two attempts
CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


def download(
    url: str,
    destination: str | PathLike[str],
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    timeout: float = 60.0,
    attempts: int = 5,
    pause: float = 1.0,
) -> Path:
    """Download the file at an http or https URL to `destination`.

    The bytes are written to NAME.part, which is renamed once it is complete and its checksum is
    correct. If the connection breaks, nothing arrives for `timeout` seconds, or the server is
    overloaded, the download is retried: up to `attempts` times without progress, after `pause`, 2
    `pause`, 4 `pause` ... seconds. Only the missing bytes are requested, in this run or a later
    one, and only if the server confirms (by ETag or Last-Modified) that the file is the same;
    otherwise the download starts over. If two processes download the same file, one waits.

    Without `sha256`, the checksum of the first download is recorded in NAME.sha256, and later
    downloads must match it. An existing file is verified and left as it is. `progress` is called
    with the bytes that have arrived and the size of the file, 0 if it is unknown.

    Raises DatasetError with the URL and the cause: a status code, a wrong checksum (the bytes are
    removed), a full disk (they are kept).
    """
    destination = Path(destination)
    progress = progress or no_progress
    if _scheme(url) not in SCHEMES:
        raise DatasetError(f"{url}: only http and https URLs are supported.")
    if destination.exists():
        return _verified(destination, sha256, progress)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        with locked_part(destination) as part:
            if destination.exists():  # another process has downloaded it meanwhile
                return _verified(destination, sha256, progress)
            part.resume(url, progress)
            transfer = _Transfer(url, destination, part, progress, timeout)
            transfer.run(attempts, pause)
            _finish(url, destination, part, sha256)
    except OSError as error:
        if isinstance(error, HopvecError):
            raise
        raise DatasetError(
            f"{destination}: cannot be written ({error.strerror or error})."
        ) from error
    return destination


def _verified(destination: Path, sha256: str | None, progress: Progress) -> Path:
    """Return an existing file; raise DatasetError if its checksum is wrong."""
    expected = sha256 or read_checksum(destination)
    if expected and (found := sha256_of(destination, progress)) != expected:
        raise DatasetError(
            f"{destination}: the file exists, but its sha256 is {found} and should be "
            f"{expected}. Delete it to download it again."
        )
    return destination


def _finish(url: str, destination: Path, part: PartialFile, sha256: str | None) -> None:
    """Rename the complete file if its checksum is correct, else delete it."""
    found, first = part.sha256, read_checksum(destination)
    expected = sha256 or first
    if not expected and part.size == 0:
        part.remove()
        raise DatasetError(f"{url}: the server sent an empty file.")
    if expected and found != expected:
        part.remove()
        hint = "" if sha256 else f" If the change is intended, delete {checksum_path(destination)}."
        what = "should be" if sha256 else "was, in the first download,"
        raise DatasetError(
            f"{url}: the sha256 of the downloaded file ({format_bytes(part.size)}) is {found} and "
            f"{what} {expected}. The file was removed.{hint}"
        )
    if not expected:
        write_checksum(destination, found)
    part.finish()


class _TransientError(Exception):
    """A failure that may not occur again; the message describes it."""


class _Transfer:
    """The transfer of one URL into a partial file."""

    def __init__(
        self, url: str, destination: Path, part: PartialFile, progress: Progress, timeout: float
    ) -> None:
        self.url, self.destination, self.part = url, destination, part
        self.progress, self.timeout = progress, timeout

    def run(self, attempts: int, pause: float) -> None:
        """Retries until the file is complete, or too many attempts have failed."""
        furthest, failures = self.part.size, 0
        while not self.part.complete:
            try:
                self._fetch()
                return
            except _TransientError as error:
                failures = 1 if self.part.size > furthest else failures + 1
                furthest = max(furthest, self.part.size)
                if failures >= attempts:
                    raise self._error(f"{error}, {attempts} times in a row") from error
                wait = min(pause * 2 ** (failures - 1), MAX_PAUSE)
                logger.info("%s: %s; trying again in %.3g s.", self.url, error, wait)
            time.sleep(wait)

    def _fetch(self) -> None:
        """Request the missing bytes, or all of them, and write those that arrive."""
        part, headers = self.part, {}
        if part.validator:
            headers = {"Range": f"bytes={part.size}-", "If-Range": part.validator}
        with (
            self._describe_errors(),
            _opener().open(
                request.Request(self.url, headers=headers), timeout=self.timeout
            ) as response,
        ):
            if response.status == http.client.PARTIAL_CONTENT:
                self._check_range(response)
            else:
                part.begin(Origin(self.url, _validator(response), response.length))
            check_space(self.destination, part.total - part.size)
            self.progress(part.size, part.total)
            while block := response.read1(BLOCK_BYTES):
                part.write(block)
                self.progress(part.size, part.total)
            if part.total and not part.complete:
                raise http.client.IncompleteRead(b"")

    def _check_range(self, response: http.client.HTTPResponse) -> None:
        """Discards the bytes so far if the response is not the rest of the same file."""
        found = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        same = (
            found is not None
            and int(found[1]) == self.part.size
            and found[2] in ("*", str(self.part.total))
            and _validator(response) in (None, self.part.validator)
        )
        if not same:
            self.part.discard()
            raise _TransientError("the server sent a different range than requested")

    @contextmanager
    def _describe_errors(self) -> Iterator[None]:
        """Translate network errors into transient and permanent ones with a readable message."""
        try:
            yield
        except HTTPError as error:
            error.close()
            what = f"the server responded with {error.code} {error.reason}".rstrip()
            if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                self.part.discard()  # the file is shorter than before
            elif error.code < 500 and error.code not in TRANSIENT_STATUS:
                raise self._error(what) from error
            raise _TransientError(what) from error
        except HopvecError:
            raise
        except (ValueError, http.client.InvalidURL) as error:
            raise self._error(f"the URL, or one it redirects to, is invalid ({error})") from error
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise self._error(f"its certificate is invalid ({reason})") from error
            if isinstance(reason, TimeoutError):
                raise _TransientError(f"no data arrived for {self.timeout:g} s") from error
            if isinstance(error, URLError):
                raise _TransientError(f"the server cannot be reached ({reason})") from error
            arrived = format_bytes(self.part.size)
            of = f" of {format_bytes(self.part.total)}" if self.part.total else ""
            raise _TransientError(f"the connection was closed after {arrived}{of}") from error

    def _error(self, what: str) -> DatasetError:
        """The error that ends the download, with the cause and what to do."""
        if self.part.validator:
            kept = f"The first {format_bytes(self.part.size)} are kept in {self.part.path}"
            advice = f"{kept}; the next attempt resumes from there."
        else:
            advice = f"If you can get the file elsewhere, copy it to {self.destination}."
        return DatasetError(f"{self.url}: {what}. {advice}")


def _scheme(url: str) -> str:
    """The scheme of a URL. Raises DatasetError if it is malformed."""
    try:
        return urlsplit(url).scheme
    except ValueError as error:
        raise DatasetError(f"{url}: the URL is invalid ({error}).") from error


def _validator(response: http.client.HTTPResponse) -> str | None:
    """The ETag or date that identifies this version of the file; a weak ETag does not count."""
    tag: str | None = response.headers.get("ETag")
    changed: str | None = response.headers.get("Last-Modified")
    return tag if tag and not tag.startswith("W/") else changed


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirects, but never from https to http."""

    def redirect_request(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        if req.type == "https" and _scheme(newurl) != "https":
            raise DatasetError(f"{req.full_url}: it redirects to {newurl}, which is not encrypted.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    """An opener for http and https URLs only, also after redirects."""
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
