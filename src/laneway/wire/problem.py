"""Errors as RFC 9457 writes them, with our stable `code` beside the words."""

from http import HTTPStatus

from msgspec import Struct

CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:laneway:problem:"


class Problem(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a request was not carried out."""

    type: str
    title: str
    status: int
    code: str
    """Stable; programs decide by it."""
    detail: str
    """For people; the words may change."""
    retryable: bool
    """Whether the same request, unchanged, may succeed later."""
    tx: str | None = None
    lane: str | None = None
    field: str | None = None
    """What to change in the request."""


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    retryable: bool = False,
    tx: str | None = None,
    lane: str | None = None,
    field: str | None = None,
) -> Problem:
    return Problem(
        type=TYPE_PREFIX + code,
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
        retryable=retryable,
        tx=tx,
        lane=lane,
        field=field,
    )
