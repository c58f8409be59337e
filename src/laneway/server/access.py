"""Who may ask, and for what. Without keys the server is for this machine alone."""

import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from hmac import compare_digest
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from aiohttp import web
from msgspec import Meta, Struct

from laneway.server.answers import RequestRefused
from laneway.server.limits import AUTHORIZATION_CHARS_MAX, QUOTA_MAX

Scope = Literal["tx:read", "tx:write", "lane:operate", "lane:admin", "metrics:read"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
LOOPBACK = "loopback"
"""The name of a caller without a key, for the audit trail."""


class Key(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One API key as it is stored: never the secret, only its hash."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9]{1,32}$")]
    """The public prefix. Each has its own space of idempotency keys."""
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    scopes: tuple[Scope, ...] = SCOPES
    lanes: tuple[str, ...] = ("*",)
    """Globs: `contract:Qm*`."""
    expires: Annotated[datetime, Meta(tz=True)] | None = None
    requests_per_minute: Annotated[int, Meta(ge=1, le=QUOTA_MAX)] | None = None
    """More are answered 429, counted by each process for itself; None: no limit."""


class Caller(Struct, frozen=True):
    """The sender of a request; its key's id is also the space of its idempotency keys."""

    id: str
    scopes: tuple[Scope, ...]
    lanes: tuple[str, ...]

    def name(self) -> str:
        return self.id or LOOPBACK

    def may_see(self, lane: str) -> bool:
        return any(pattern == "*" or fnmatchcase(lane, pattern) for pattern in self.lanes)

    def may_see_all(self) -> bool:
        return "*" in self.lanes

    def check_lane(self, lane: str) -> None:
        if not self.may_see(lane):
            raise RequestRefused(403, "lane_not_allowed", f"this key may not use {lane}", lane=lane)

    def check_tx(self, lane: str) -> None:
        """The same for a transaction that was asked for by its id; the refusal hides its lane."""
        if not self.may_see(lane):
            detail = "this key may not use the lane of that transaction"
            raise RequestRefused(403, "lane_not_allowed", detail)


NEIGHBOUR = Caller("", SCOPES, ("*",))
"""Any caller on this machine, while there are no keys."""


class Quota:
    """A bucket that holds one minute's requests and fills evenly."""

    def __init__(self, per_minute: int) -> None:
        self._size = float(per_minute)
        self._left = self._size
        self._at_s: float | None = None

    def wait_s(self, now_s: float) -> int:
        """0 if one request was taken from the bucket; else after how many seconds to try again."""
        if self._at_s is not None:
            self._left = min(self._size, self._left + (now_s - self._at_s) * self._size / 60)
        self._at_s = now_s
        if self._left >= 1:
            self._left -= 1
            return 0
        return max(1, math.ceil((1 - self._left) * 60 / self._size))


class AccessCheck:
    """Finds the caller of a request, or refuses it."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self._keys = {key.id: key for key in keys}
        self._quotas = {
            key.id: Quota(key.requests_per_minute)
            for key in keys
            if key.requests_per_minute is not None
        }

    def caller(self, request: web.Request, scope: Scope | None) -> Caller:
        """The sender of a request; with `scope` None anyone who can reach us may ask."""
        if not self._keys:
            check_neighbour(request)
        if not self._keys or scope is None:
            return NEIGHBOUR
        key = self._key(request.headers.get("Authorization", ""))
        if scope not in key.scopes:
            raise RequestRefused(403, "scope_missing", f"this key lacks the scope {scope}")
        quota = self._quotas.get(key.id)
        if quota is not None and (wait_s := quota.wait_s(time.monotonic())):
            detail = f"the key {key.id} may ask {key.requests_per_minute} times a minute"
            raise RequestRefused(
                429, "quota_exceeded", detail, retryable=True, headers={"Retry-After": str(wait_s)}
            )
        return Caller(key.id, key.scopes, key.lanes)

    def _key(self, header: str) -> Key:
        kind, _, token = header.partition(" ")
        if kind.lower() == "bearer" and len(header) <= AUTHORIZATION_CHARS_MAX:
            key = self._keys.get(prefix_of(token.strip()))
            if key is not None and compare_digest(digest(token.strip()), key.sha256):
                if key.expires is None or key.expires > datetime.now(UTC):
                    return key
                raise unauthorized("key_expired", f"the key {key.id} has expired")
        raise unauthorized("key_missing", "send a valid key: Authorization: Bearer lw_ID_SECRET")


def prefix_of(token: str) -> str:
    parts = token.split("_", 2)
    return parts[1] if len(parts) == 3 and parts[0] == "lw" else ""


def digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def unauthorized(code: str, detail: str) -> RequestRefused:
    return RequestRefused(401, code, detail, headers={"WWW-Authenticate": 'Bearer realm="laneway"'})


def check_neighbour(request: web.Request) -> None:
    """A page in a browser on this machine can send requests here too (DNS rebinding, forms): it
    cannot forge Host and Origin."""
    headers = request.headers
    if host_name("//" + headers.get("Host", "")) not in LOOPBACK_NAMES:
        detail = "without API keys only http://localhost and http://127.0.0.1 are served"
        raise RequestRefused(403, "host_not_allowed", detail)
    origin = headers.get("Origin")
    if origin is not None and host_name(origin) not in LOOPBACK_NAMES:
        detail = "without API keys a page from elsewhere may not call this server"
        raise RequestRefused(403, "origin_not_allowed", detail)


def host_name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
