"""How an address is printed: with its scheme, host and port, and without its secrets.

Every URL that leaves the process (a log line, an answer, a page, an error) passes `shown_url`.
What a server says about our request may repeat the address, and passes `scrubbed`.
"""

import re
from base64 import b64encode
from urllib.parse import unquote

from laneway.core.text import printable

REDACTED = "(redacted)"
PATH_WORDS = frozenset((
    *("api", "rpc", "jsonrpc", "json-rpc", "http", "https", "ws", "wss", "websocket", "graphql"),
    *("node", "nodes", "public", "main", "mainnet", "testnet", "devnet", "chain", "chains"),
    *("block", "blocks", "status", "health", "hook", "hooks", "webhook", "webhooks"),
    *("eth", "ethereum", "evm", "sepolia", "holesky", "hoodi", "goerli", "ext", "bc", "c", "p"),
    *("x", "arbitrum", "avalanche", "base", "bsc", "gnosis", "optimism", "polygon", "cosmos"),
    *("celestia",),
))  # fmt: skip
"""Path segments that are shown, with those of versions. Hosted nodes and chat services have their
keys in the path, and a key may be a plain word: what is not listed is hidden. These are names of
interfaces and chains in the addresses of known services, which nobody takes for a key."""
VERSION = re.compile("v[0-9]{1,2}")

OPAQUE_CHARS_MIN = 8
"""A query key of this length that has a digit may be a secret itself; `key` and `token` are not."""
QUERY_KEY_CHARS_MAX = 16
"""A longer query key is never shown."""

SECRET_CHARS_MIN = 4
"""A shorter text is not searched for in what a server says: it is in half of all sentences."""

DATABASES = ("postgres", "postgresql", "redis", "rediss", "redis+cluster", "rediss+cluster")
"""Schemes whose path is the name of a database, and not a key."""
PLAIN_KEYS = frozenset(("host", "port", "dbname", "db", "sslmode", "connect_timeout"))
"""Query keys of databases whose values are no secrets."""

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
PLACE = re.compile(r"[A-Za-z0-9_.,-]*(\[[0-9A-Fa-f:.%]*\])?(:[0-9]*)?(,[A-Za-z0-9_.:,\[\]-]*)?")
"""One host or several, each with or without a port: an authority without user info."""
ANYWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>`\\]+")
USER = re.compile(r"[^/]*:[^/]*@")
"""User info of an address whose scheme is missing."""


def shown_url(url: str) -> str:
    """The address as it may be printed: user info, path segments that are not listed as plain,
    query values and the fragment are replaced. A text that is not an address, such as a file's
    path, is returned as it is."""
    return _parted(printable(url))[0]


def scrubbed(text: str, url: str, *secrets: str) -> str:
    """A server's text, without these secrets and those of the address that it was asked at. The
    end of a text that was cut may be the beginning of a secret, which is left out too."""
    for secret in sorted((*_parted(url)[1], *secrets), key=len, reverse=True):
        for form in (secret, unquote(secret)):
            if len(form) >= SECRET_CHARS_MIN:
                text = text.replace(form, REDACTED)
                for size in range(len(form) - 1, SECRET_CHARS_MIN - 1, -1):
                    if text.endswith(form[:size]):
                        text = text[:-size] + REDACTED
    return text


def shown_urls(text: str) -> str:
    """A foreign text, such as a traceback, with each address in it as `shown_url` prints it."""
    return ANYWHERE.sub(lambda found: shown_url(found[0]), text) if "://" in text else text


def _parted(url: str) -> tuple[str, list[str]]:
    """The address as it may be printed, and what is left out of it."""
    match = SCHEME.fullmatch(url)
    if match is None:
        return USER.sub(f"{REDACTED}@", url, count=1), _of_user(USER.findall(url)[:1])
    scheme, rest = match[1], match[2]
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    user, hidden = "", []
    if not PLACE.fullmatch(authority) and "@" in rest:
        # A password may hold a slash that nobody escaped: all before the last @ is hidden.
        before, _, rest = rest.rpartition("@")
        user, hidden = f"{REDACTED}@", _of_user([before])
        authority = re.split("[/?#]", rest, maxsplit=1)[0]
    place, rest = authority, rest[len(authority) :]
    if not PLACE.fullmatch(authority) and ":" in authority:
        # A port that is no number may be a password whose @ was forgotten.
        place, _, port = authority.partition(":")
        place, hidden = f"{place}:{REDACTED}", [*hidden, port]
    is_database = scheme.lower() in DATABASES
    rest, hash_, fragment = rest.partition("#")
    path, mark, query = rest.partition("?")
    shown, pairs = path, [(one, _shown_pair(one, is_database)) for one in query.split("&")]
    if not is_database:
        segments = [(one, _shown_segment(one)) for one in path.split("/")]
        shown = "/".join(seen for _, seen in segments)
        hidden += [one for one, seen in segments if one != seen]
    shown += mark + "&".join(seen for _, seen in pairs)
    hidden += [part for one, seen in pairs if one != seen for part in one.split("=", 1)[-1:]]
    shown = f"{scheme}://{user}{place}{shown}{hash_}{REDACTED if fragment else ''}"
    return shown, [*hidden, fragment]


def _of_user(users: list[str]) -> list[str]:
    """User info, its password, and both as a header encodes them; a name alone may be a token."""
    named = [user.rstrip("@") for user in users]
    pairs = [unquote(user if ":" in user else f"{user}:") for user in named]
    headers = [b64encode(pair.encode(errors="replace")).decode() for pair in pairs]
    return [*named, *headers, *(user.partition(":")[2] for user in named)]


def _shown_segment(segment: str) -> str:
    word = segment.lower()
    is_plain = not word or word in PATH_WORDS or VERSION.fullmatch(word)
    return segment if is_plain else REDACTED


def _shown_key(key: str) -> str:
    is_long = len(key) > QUERY_KEY_CHARS_MAX
    has_digit = any(char.isdigit() for char in key)
    is_secret = len(key) >= OPAQUE_CHARS_MIN and has_digit
    return REDACTED if is_long or is_secret or re.search("[@:=;]", key) else key


def _shown_pair(pair: str, is_database: bool) -> str:
    key, mark, value = pair.partition("=")
    if is_database and key in PLAIN_KEYS:
        return pair
    if not mark:
        return REDACTED if key else ""
    return f"{_shown_key(key)}={REDACTED if value else ''}"
