"""scrub: removes user names and passwords from text that is shown or stored."""

from __future__ import annotations

import re

HIDDEN = "***"
URL_WITH_USER = re.compile(  # a Path has one slash instead of two
    r"\b(postgres(?:ql)?:/{1,2}|[a-z][a-z0-9+.-]+://)[^\s/?#'\"]*@", re.IGNORECASE
)
PASSWORD_SETTING = re.compile(
    r"\b((?:ssl)?password|pwd|secret|token)(\s*=\s*(?:'[^']*'|[^\s'\"&;,)]+)|\s+'[^']*')",
    re.IGNORECASE,
)


def scrub(text: str) -> str:
    """A string without the credentials of URLs and without passwords.

    >>> scrub("ATTACH 'postgresql://me:secret@host/graph'; password = 'x'")
    "ATTACH 'postgresql://host/graph'; password=***"
    """
    return PASSWORD_SETTING.sub(rf"\1={HIDDEN}", URL_WITH_USER.sub(r"\1", text))
