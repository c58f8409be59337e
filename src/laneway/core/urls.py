"""How an address is printed: with its scheme, host and port, and without its secrets.

Every URL that leaves the process (a log line, an answer, a page, an error) passes `shown_url`.
"""

import re

from laneway.core.text import printable

REDACTED = "(redacted)"
OPAQUE_CHARS_MIN = 8
"""A path segment of this length that has a digit may be a key; `v3`, `rpc` and `hook` are not."""
SEGMENT_CHARS_MAX = 16
"""A longer path segment is never shown: hosted nodes and chat services have their keys there."""

DATABASES = ("postgres", "postgresql", "redis", "rediss", "redis+cluster", "rediss+cluster")
"""Schemes whose path is the name of a database, and not a key."""
PLAIN_KEYS = frozenset(("host", "port", "dbname", "db", "sslmode", "connect_timeout"))
"""Query keys of databases whose values are no secrets."""

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
PLACE = re.compile(r"[A-Za-z0-9_.,-]*(\[[0-9A-Fa-f:.%]*\])?(:[0-9]*)?(,[A-Za-z0-9_.:,\[\]-]*)?")
"""One host or several, each with or without a port: an authority without user info."""
USER = re.compile(r"[^/]*:[^/]*@")
"""User info of an address whose scheme is missing."""


def shown_url(url: str) -> str:
    """The address as it may be printed: user info, long or key-like path segments, query values
    and the fragment are replaced. A text that is not an address, such as a file's path, is
    returned as it is."""
    url = printable(url)
    match = SCHEME.fullmatch(url)
    if match is None:
        return USER.sub(f"{REDACTED}@", url, count=1)
    scheme, rest = match[1], match[2]
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    user = ""
    if not PLACE.fullmatch(authority) and "@" in rest:
        # A password may hold a slash that nobody escaped: all before the last @ is hidden.
        rest = rest.rpartition("@")[2]
        user = f"{REDACTED}@"
        authority = re.split("[/?#]", rest, maxsplit=1)[0]
    is_database = scheme.lower() in DATABASES
    rest, hash_, fragment = rest[len(authority) :].partition("#")
    path, mark, query = rest.partition("?")
    shown = path if is_database else "/".join(_shown_segment(one) for one in path.split("/"))
    shown += mark + "&".join(_shown_pair(one, is_database) for one in query.split("&"))
    return f"{scheme}://{user}{authority}{shown}{hash_}{REDACTED if fragment else ''}"


def _shown_segment(segment: str) -> str:
    is_long = len(segment) > SEGMENT_CHARS_MAX
    has_digit = any(char.isdigit() for char in segment)
    is_key = len(segment) >= OPAQUE_CHARS_MIN and has_digit
    return REDACTED if is_long or is_key or re.search("[@:=;]", segment) else segment


def _shown_pair(pair: str, is_database: bool) -> str:
    key, mark, value = pair.partition("=")
    if is_database and key in PLAIN_KEYS:
        return pair
    if not mark:
        return REDACTED if key else ""
    return f"{_shown_segment(key)}={REDACTED if value else ''}"
