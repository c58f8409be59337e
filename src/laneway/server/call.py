"""One request: who asks, and what it says, read strictly and within bounds."""

import asyncio
from typing import Any, TypeVar

import msgspec
from aiohttp import web
from msgspec import UnsetType

from laneway.core.errors import BadRequest
from laneway.server.access import Caller
from laneway.server.answers import Refused
from laneway.server.desk import Desk
from laneway.server.limits import BODY_READ_S
from laneway.wire.idempotency import KeysDisagree, key_of
from laneway.wire.problem import problem
from laneway.wire.trace import HEADER as TRACE
from laneway.wire.trace import traceparent

Q = TypeVar("Q", bound=msgspec.Struct)
B = TypeVar("B", bound=msgspec.Struct)
T = TypeVar("T")


class Counts:
    """Requests of one server that hold their connection now."""

    def __init__(self) -> None:
        self.waits = 0
        self.streams = 0


class Call:
    """What an action is given."""

    __slots__ = ("caller", "counts", "desk", "request", "size_max")

    def __init__(
        self,
        request: web.Request,
        desk: Desk,
        caller: Caller,
        counts: Counts,
        size_max: int | None = None,
    ) -> None:
        self.request = request
        self.desk = desk
        self.caller = caller
        self.counts = counts
        self.size_max = size_max
        """Of its body, where that may be larger than others'."""

    def path(self, name: str) -> str:
        return self.request.match_info[name]

    def query(self, kind: type[Q]) -> Q:
        if not self.request.query_string:
            return kind()  # Every parameter has a default.
        given: dict[str, Any] = dict(self.request.query)
        if len(given) != len(self.request.query):
            raise invalid("invalid_query", "a parameter may be given once")
        try:
            return msgspec.convert(given, kind, strict=False)
        except msgspec.ValidationError as error:
            raise invalid("invalid_query", str(error)) from None

    def idempotency_key(self) -> str | None:
        try:
            return key_of(self.request.headers)
        except KeysDisagree:
            raise
        except BadRequest as error:
            told = problem(400, "bad_idempotency_key", error.problem, field=error.field)
            raise Refused(told) from None

    def trace(self) -> str:
        headers = self.request.headers
        return traceparent(headers.getall(TRACE)) if TRACE in headers else ""

    async def body(self, kind: type[B]) -> B:
        return decode(await self.raw(), kind)

    async def raw(self) -> bytes:
        request = self.request
        if request.content_type != "application/json":
            detail = "send JSON, with the header Content-Type: application/json"
            raise Refused(problem(415, "not_json", detail))
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise Refused(problem(415, "encoded_body", "send the body without Content-Encoding"))
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
            raise Refused(
                problem(408, "slow_body", detail, retryable=True), {"Connection": "close"}
            ) from None
        except (web.RequestPayloadError, ConnectionError) as error:
            raise Refused(problem(400, "broken_body", str(error))) from None


def given(value: T | UnsetType) -> T | None:
    """What a query says, or None where it says nothing. It has no null of its own."""
    return None if isinstance(value, UnsetType) else value


def check_size(call: Call, raw: bytes) -> None:
    """That a body is no larger than others' may be."""
    size_max = call.request.client_max_size
    if len(raw) > size_max:
        raise too_large(size_max)


def decode(raw: bytes, kind: type[B]) -> B:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise invalid("invalid_body", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(problem(400, "malformed_json", f"not JSON: {error}")) from None


def invalid(code: str, words: str) -> Refused:
    """msgspec's words, with the place they speak of as the field."""
    what, _, place = words.partition(" - at `")
    field = place.rstrip("`").removeprefix("$").removeprefix(".").removesuffix("[...]")
    detail = f"{field}: {what}" if field else what
    return Refused(problem(422, code, detail, field=field or None))


def too_large(size_max: int) -> Refused:
    told = problem(413, "body_too_large", f"a body has at most {size_max} bytes")
    return Refused(told, {"Connection": "close"})
