"""What a caller sends: the body of a request over REST, and its payload for the library."""

from typing import Annotated

from msgspec import Meta, Struct

from laneway.wire.values import Moment


class AdditionPayload(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is added to a counter."""

    add: Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
    note: Annotated[str, Meta(max_length=200)] = ""


class NewAddition(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An addition that is wanted once: the body of a request over REST."""

    lane: Annotated[str, Meta(pattern=r"^counter:[a-z0-9-]{1,40}$", description="`counter:NAME`.")]
    payload: AdditionPayload
    valid_until: Moment | None = None
    """Not begun after this moment; then its status is `expired`."""
