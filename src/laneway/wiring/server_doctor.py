"""What a running laneway says of its own readiness, at the configured address.

It compares its nodes with what its lanes have seen, which nobody else can while it owns the
database. There is no finding where no server answers: `laneway up` may be yet to start.
"""

from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import msgspec

from laneway.kinds.findings import Finding
from laneway.wire.values import Readiness
from laneway.wiring.config import Configuration
from laneway.wiring.limits import READINESS_BYTES_MAX, READINESS_S_MAX

ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that only a server can have, and where it is found on this machine."""


def examine_server(configuration: Configuration) -> list[Finding]:
    """Its checks that fail, or one finding that it is ready."""
    section = configuration.config.server
    if not section.port:
        return []  # It took any free port; only its own process knows which.
    host = ANY.get(section.listen, section.listen)
    place = f"http://{f'[{host}]' if ':' in host else host}:{section.port}"
    body = asked(f"{place}/readyz")
    if body is None:
        return []
    try:
        found = msgspec.json.decode(body, type=Readiness)
    except msgspec.MsgspecError:
        what = f"{place} is not a laneway: its answer to /readyz cannot be read"
        return [Finding("server", False, what, "stop it, or set another `server.port`")]
    if found.ready:
        return [Finding("server", True, f"{place} is ready")]
    advice = f"see {place}/readyz, and the server's log"
    return [
        Finding(f"server, {check.name}", False, check.what, advice)
        for check in found.checks
        if not check.ok
    ]


def asked(url: str) -> bytes | None:
    """The body of an answer with any status; None if nobody answers in time."""
    opener = build_opener(ProxyHandler({}))  # It is on this machine.
    try:
        with opener.open(url, timeout=READINESS_S_MAX) as answer:
            return bytes(answer.read(READINESS_BYTES_MAX))
    except HTTPError as error:
        with error:
            return bytes(error.read(READINESS_BYTES_MAX))
    except (OSError, HTTPException):
        return None
