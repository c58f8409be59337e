"""What the engine asks of the sender of messages to endpoints."""

from typing import Protocol

from msgspec import Struct


class DeliveryMessage(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A message to one endpoint: the payload of its delivery. Fields are only appended."""

    id: str
    """The message's id, the same however often it is sent: receivers drop repeats by it."""
    type: str
    body: bytes
    """The JSON as it is sent and signed."""
    resends: str = ""
    """The delivery that this one repeats, at an operator's command."""


class Posted(Struct, frozen=True):
    """The result of one POST."""

    code: int | None
    """The HTTP status; None when there was no answer."""
    duration_ms: int
    reason: str = ""
    preview: bytes = b""
    retry_after_ms: int | None = None


class Sender(Protocol):
    """Delivers messages to endpoints."""

    async def post(self, endpoint: str, message: DeliveryMessage) -> Posted:
        """Send it once, and answer within its own time limit whatever happens; never raises."""

    async def close(self) -> None: ...
