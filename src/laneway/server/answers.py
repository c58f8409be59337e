"""Responses of the server: values as JSON, errors as problems."""

from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

from laneway.core.errors import (
    BadRequest,
    Bug,
    BundleNotFound,
    CallerError,
    ChainError,
    CommandUnfit,
    Draining,
    HeldElsewhere,
    IntentFinal,
    IntentNotFound,
    LaneFull,
    LaneNotFound,
    LanewayError,
    NoRoom,
    RetryUnfit,
    StoreError,
    WebhookNotFound,
)
from laneway.server.limits import RETRY_AFTER_S
from laneway.wire import problem as problems
from laneway.wire.problem import Problem, problem

encode = msgspec.json.Encoder().encode

SERVER = "laneway"
JSON = {"Content-Type": "application/json", "Server": SERVER, "Cache-Control": "no-store"}
PROBLEM = JSON | {"Content-Type": problems.CONTENT_TYPE}

STATUS: Mapping[type[LanewayError], int] = {
    # The first class that fits decides.
    IntentNotFound: 404,
    LaneNotFound: 404,
    WebhookNotFound: 404,
    BundleNotFound: 404,
    HeldElsewhere: 409,
    IntentFinal: 409,
    CommandUnfit: 409,
    RetryUnfit: 409,
    LaneFull: 503,
    NoRoom: 503,
    Draining: 503,
    CallerError: 422,
    ChainError: 503,
    StoreError: 503,
    Bug: 500,
}

FIELDS = {
    "contract": "lane",
    "key": "Idempotency-Key",
    "data": "payload.data",
    "executor": "payload.executor",
    "comment": "payload.comment",
    "quorum_type": "payload.quorum_type",
    "valid_until_ms": "valid_until",
}
"""The names in the API of fields that the engine names otherwise."""


class RequestRefused(Exception):
    """A request that ends here, with a problem of these fields. Never leaves the server."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        self.problem = problem(status, code, detail, **fields)
        self.headers = headers or {}
        super().__init__(detail)


def reply(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(
        body=encode(value), status=status, headers=JSON if headers is None else {**JSON, **headers}
    )


def refuse(problem: Problem, headers: Mapping[str, str] | None = None) -> web.Response:
    all_headers = {**PROBLEM, **(headers or {})}
    if problem.status == 503:
        all_headers.setdefault("Retry-After", str(RETRY_AFTER_S))
    return web.Response(body=encode(problem), status=problem.status, headers=all_headers)


def refuse_error(error: LanewayError) -> web.Response:
    headers = {"Retry-After": str(error.retry_after_s)} if isinstance(error, LaneFull) else {}
    return refuse(problem_of(error), headers)


def problem_of(error: LanewayError) -> Problem:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    field, detail = None, str(error)
    if isinstance(error, BadRequest):
        field = FIELDS.get(error.field, error.field)
        detail = f"{field}: {error.problem}"
    return problem(
        status,
        error.code,
        detail,
        retryable=error.retry == "later",
        tx=getattr(error, "intent", None),
        lane=getattr(error, "lane", None),
        field=field,
    )
