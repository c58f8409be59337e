"""One request: its caller, parameters and body, read strictly and within bounds."""

import asyncio
from typing import Any, TypeVar

import msgspec
from aiohttp import web
from msgspec import Struct, UnsetType

from laneway.core.errors import BadRequest
from laneway.server.access import Caller
from laneway.server.answers import RequestRefused
from laneway.server.desk import Desk
from laneway.server.limits import BODY_READ_S
from laneway.wire.idempotency import KeysDisagree, key_of
from laneway.wire.trace import HEADER as TRACE
from laneway.wire.trace import traceparent

Q = TypeVar("Q", bound=Struct)
B = TypeVar("B", bound=Struct)
T = TypeVar("T")

CLOSE = {"Connection": "close"}


class Counts(Struct):
    """Numbers of requests of one server that hold their connection now."""

    waits: int = 0
    streams: int = 0


class Call(Struct, frozen=True):
    """One request, with what its action needs to answer it."""

    request: web.Request
    desk: Desk
    caller: Caller
    counts: Counts
    size_max: int | None = None
    """The bound of its body, where that may be larger than others'."""

    def path(self, name: str) -> str:
        return self.request.match_info[name]

    def query(self, kind: type[Q]) -> Q:
        if not self.request.query_string:
            return kind()  # Every parameter has a default.
        parameters: dict[str, Any] = dict(self.request.query)
        if len(parameters) != len(self.request.query):
            raise invalid("invalid_query", "a parameter may be given once")
        try:
            return msgspec.convert(parameters, kind, strict=False)
        except msgspec.ValidationError as error:
            raise invalid("invalid_query", str(error)) from None

    def idempotency_key(self) -> str | None:
        try:
            return key_of(self.request.headers)
        except KeysDisagree:
            raise
        except BadRequest as error:
            raise RequestRefused(
                400, "bad_idempotency_key", error.problem, field=error.field
            ) from None

    def trace(self) -> str:
        headers = self.request.headers
        return traceparent(headers.getall(TRACE)) if TRACE in headers else ""

    async def body(self, kind: type[B]) -> B:
        return decode(await self.raw(), kind)

    async def raw(self) -> bytes:
        request = self.request
        if request.content_type != "application/json":
            detail = "send JSON, with the header Content-Type: application/json"
            raise RequestRefused(415, "not_json", detail)
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise RequestRefused(415, "encoded_body", "send the body without Content-Encoding")
        size_max = self.size_max or request.client_max_size
        if (request.content_length or 0) > size_max:
            raise too_large(size_max)
        if size_max != request.client_max_size:
            request = request.clone(client_max_size=size_max)
        try:
            if request.content.is_eof():
                return await request.read()  # It is all here: there is nothing to wait for.
            async with asyncio.timeout(BODY_READ_S):
                return await request.read()
        except web.HTTPRequestEntityTooLarge:
            raise too_large(size_max) from None
        except TimeoutError:
            detail = f"the body did not arrive within {BODY_READ_S:.0f} s"
            raise RequestRefused(408, "slow_body", detail, retryable=True, headers=CLOSE) from None
        except (web.RequestPayloadError, ConnectionError) as error:
            raise RequestRefused(400, "broken_body", str(error)) from None


def given(value: T | UnsetType) -> T | None:
    """The value of an optional parameter, or None if it is left out."""
    return None if isinstance(value, UnsetType) else value


def decode(raw: bytes, kind: type[B]) -> B:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise invalid("invalid_body", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestRefused(400, "malformed_json", f"not JSON: {error}") from None


def invalid(code: str, message: str) -> RequestRefused:
    """A refusal with msgspec's error message, and with the place that it names as the field."""
    what, _, place = message.partition(" - at `")
    field = place.rstrip("`").removeprefix("$").removeprefix(".").removesuffix("[...]")
    detail = f"{field}: {what}" if field else what
    return RequestRefused(422, code, detail, field=field or None)


def too_large(size_max: int) -> RequestRefused:
    detail = f"a body has at most {size_max} bytes"
    return RequestRefused(413, "body_too_large", detail, headers=CLOSE)
