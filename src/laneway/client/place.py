"""The server's address and the caller's key: arguments first, then the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from laneway.client.limits import KEY_FILE_BYTES_MAX
from laneway.core.errors import BadRequest
from laneway.core.urls import shown_url

URL = "http://127.0.0.1:8547"
URL_VARIABLE = "LANEWAY_URL"
KEY_FILE_VARIABLE = "LANEWAY_API_KEY_FILE"


class ServerPlace(Struct, frozen=True):
    """One server, as seen by one caller."""

    url: str
    scheme: str
    host: str
    port: int
    prefix: str
    """Comes before every path, where a proxy serves us under one."""
    token: str | None

    def headers(self) -> dict[str, str]:
        sent = {"Accept": "application/json, application/problem+json", "User-Agent": "laneway"}
        return sent if self.token is None else sent | {"Authorization": f"Bearer {self.token}"}


def find_place(
    url: str | None = None,
    api_key: str | None = None,
    api_key_file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> ServerPlace:
    environ = os.environ if environ is None else environ
    url = (url or environ.get(URL_VARIABLE) or URL).rstrip("/")
    if api_key is None:
        file = api_key_file or environ.get(KEY_FILE_VARIABLE)
        api_key = None if not file else read_token(Path(file))
    if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key):
        raise BadRequest("api_key", "a key is one word: lw_ID_SECRET")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadRequest("url", f"{shown_url(url)}: no address, for example {URL}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise BadRequest("url", f"{shown_url(url)}: say where the server is, for example {URL}")
    if parts.username is not None:
        raise BadRequest("url", "an address has no user; a key is given by its file")
    port = port or (443 if parts.scheme == "https" else 80)
    return ServerPlace(url, parts.scheme, parts.hostname, port, parts.path, api_key)


def read_token(path: Path) -> str:
    """The first line. A key that others may read is no secret."""
    try:
        with path.open() as opened:
            mode = os.fstat(opened.fileno()).st_mode
            token = opened.read(KEY_FILE_BYTES_MAX).strip().partition("\n")[0].strip()
    except UnicodeDecodeError as error:
        raise BadRequest("api_key_file", f"{path} is not text: {error.reason}") from error
    except OSError as error:
        raise BadRequest("api_key_file", f"{path} cannot be read: {error.strerror}") from error
    if mode & 0o077:
        raise BadRequest("api_key_file", f"others may read this key; run: chmod 600 {path}")
    if not token:
        raise BadRequest("api_key_file", f"{path} is empty")
    return token
