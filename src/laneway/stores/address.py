"""Which store an address names, and what is asked of it; reading a configuration needs no more."""

from msgspec import Struct

from laneway.stores.limits import REPLICAS_WAIT_MS

POSTGRES = ("postgresql://", "postgres://")
REDIS = ("redis://", "rediss://", "redis+cluster://", "rediss+cluster://")


class StoreOptions(Struct, frozen=True, kw_only=True):
    """What a shared store is asked for beyond its address; others need nothing of it."""

    relaxed: bool = False
    schema: str = "laneway"
    replicas_min: int | None = None
    wait_timeout_ms: int = REPLICAS_WAIT_MS


def is_shared(path: str) -> bool:
    return path.startswith((*POSTGRES, *REDIS))
