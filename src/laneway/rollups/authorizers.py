"""Whether a rollup's packages may move the line of its service, asked before any is made."""

from laneway.jam.errors import InvalidJam
from laneway.jam.package import authorizer_hash
from laneway.jam.service.commitment import AUTHORIZERS, may_move


def authorizer_problem(raw: bytes | None, code_hash: bytes, config: bytes) -> str:
    """Why a service refuses every package by this authorizer, and what to do; empty if it does not.

    `raw` is what stands under `AUTHORIZERS_KEY` in the service's storage."""
    try:
        listed = () if raw is None else AUTHORIZERS.decode(raw, "authorizers")
    except InvalidJam as error:
        return f"its service's list of authorizers cannot be read: {error}"
    used = authorizer_hash(code_hash, config)
    if may_move(listed, used):
        return ""
    known = ", ".join(one.hex() for one in listed)
    return (
        f"its service takes no packages by the authorizer {used.hex()}, but by {known} alone; "
        "set `authorizer` to one of these, or its `signer` to the key of one"
    )
