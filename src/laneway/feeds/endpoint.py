"""An endpoint of webhooks: where its messages go, and what they are signed with."""

from msgspec import Struct


class Endpoint(Struct, frozen=True, kw_only=True):
    """Where messages go, and what they are signed with. It is never shown or logged."""

    id: str
    url: str
    secrets: tuple[bytes, ...]
    allow_private: bool = False

    def __repr__(self) -> str:
        return f"Endpoint({self.id!r})"
