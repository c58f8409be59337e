"""What the engine asks of whoever posts messages to endpoints."""

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    # The curve is an extra (`evm`); contracts need none of it.
    pass


class Message(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one endpoint is told. Kept as the payload of its delivery; fields are only appended."""

    id: str
    """Of the message: it stays the same however often it is sent, so that receivers drop
    repeats."""
    type: str
    body: bytes
    """The JSON as it is sent and signed."""
    resends: str = ""
    """The delivery that this one repeats, by a person's word."""


class Posted(Struct, frozen=True):
    """What came of one POST."""

    code: int | None
    """The HTTP status; None when there was no answer."""
    duration_ms: int
    reason: str = ""
    preview: bytes = b""
    retry_after_ms: int | None = None


class Sender(Protocol):
    """Delivers messages to endpoints."""

    async def post(self, endpoint: str, message: Message) -> Posted:
        """Send it once, and answer within its own time limit whatever happens; never raises."""

    async def close(self) -> None: ...
