"""What goes back over the wire: values as JSON, errors as problems."""

from collections.abc import Mapping

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
    IntentConflict,
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
    IntentConflict: 422,
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
    BadRequest: 422,
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
"""The engine's names of what a caller calls otherwise."""


class Refused(Exception):
    """A request that ends here, with this problem. Never leaves the server."""

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        self.problem = problem
        self.headers = headers or {}
        super().__init__(problem.detail)


def reply(
    value: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(
        body=encode(value), status=status, headers=JSON if headers is None else {**JSON, **headers}
    )


def refuse(told: Problem, headers: Mapping[str, str] | None = None) -> web.Response:
    all_headers = {**PROBLEM, **(headers or {})}
    if told.status == 503:
        all_headers.setdefault("Retry-After", str(RETRY_AFTER_S))
    return web.Response(body=encode(told), status=told.status, headers=all_headers)


def refuse_error(error: LanewayError) -> web.Response:
    headers = {}
    if isinstance(error, LaneFull):
        headers["Retry-After"] = str(error.retry_after_s)
    return refuse(problem_of(error), headers)


def problem_of(error: LanewayError) -> Problem:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    field = error.field if isinstance(error, BadRequest) else None
    detail = str(error)
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
